// SPDX-License-Identifier: Apache-2.0
// SUKIMA_OBJECTS: the name of a model, or a plan file of `sukima objects plan`.
#include <sukima/capacity.h>
#include <base/shared/read_text.hpp>
#include <runtime/shared/bad_setting.hpp>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "program/program_core.hpp"
#include "schedule/plan.hpp"
#include "shared/description.hpp"
#include "shared/plan_reader.hpp"

namespace sukima::objects::detail {

namespace {

/// Bytes of the longest accepted plan. A plan of a thousand objects has about 100 KiB.
constexpr std::size_t longest_plan = std::size_t{64} << 20;

/// \param wish the variable and its value
[[noreturn]] void refuse(const std::string& wish, const std::string& why) {
  sukima::detail::throw_bad_setting(wish + ": " + why);
}

[[noreturn]] void refuse_other(const std::string& wish, const std::string& difference) {
  refuse(wish, "the plan is for another program, " + difference + "; make a plan for this one");
}

/// Objects with the names of their groups.
using grouping = std::vector<std::pair<object_core*, std::string>>;

grouping groups_of(const program_core& p, const std::string& wish, const model::named_plan& plan) {
  grouping result;
  std::unordered_map<std::string, object_core*> left;
  for (const auto& o : p.objects) left.emplace(o->name, o.get());
  for (std::size_t i = 0; i < plan.groups.size(); ++i)
    for (const std::string& name : plan.groups[i]) {
      const auto found = left.find(name);
      if (found == left.end()) refuse_other(wish, "which has an object '" + name + "'");
      result.emplace_back(found->second, "group " + std::to_string(i + 1));
      left.erase(found);
    }
  for (const auto& o : p.objects)
    if (left.contains(o->name)) refuse_other(wish, "which has no object '" + o->name + "'");
  return result;
}

void check_streams(const program_core& p, const std::string& wish, const model::named_plan& plan) {
  std::unordered_set<std::string> seen;
  for (const auto& s : p.streams) {
    if (!seen.insert(s->name).second)
      refuse(wish, "two streams are called '" + s->name + "', so no plan can distinguish them");
    if (!plan.capacities.contains(s->name)) refuse_other(wish, "which has no stream '" + s->name + "'");
  }
  for (const auto& [name, capacity] : plan.capacities)
    if (!seen.contains(name)) refuse_other(wish, "which has a stream '" + name + "'");
}

}  // namespace

model::execution_model chosen_model(program_core& p) {
  const char* const text = std::getenv("SUKIMA_OBJECTS");
  const bool by_program = !p.wanted_model.empty();
  if (!by_program && (text == nullptr || *text == '\0')) return model::execution_model::workers_simulated;
  const std::string word = by_program ? p.wanted_model : text;
  const std::string wish = by_program ? "sukima: program::model(" + word + ")" : "SUKIMA_OBJECTS=" + word;
  if (const auto known = model::model_called(word)) return *known;
  const std::optional<std::string> content = read_file_text(word, longest_plan);
  if (!content) {
    std::string accepted;
    for (const model::execution_model one : model::all_models)
      accepted += std::string(model::name_of(one)) + ", ";
    for (const model::execution_model one : model::models_of_pipes)
      accepted += std::string(model::name_of(one)) + ", ";
    refuse(wish, "it must be " + accepted + "or a plan file that can be read");
  }
  if (content->size() > longest_plan) refuse(wish, "the file is longer than 64 MiB, so it is not a plan");
  try {
    const model::named_plan plan = model::read_plan(*content, sukima_capacity_machine(nullptr));
    const grouping groups = groups_of(p, wish, plan);
    check_streams(p, wish, plan);
    for (const auto& [object, group] : groups) object->group = group;
    for (const auto& s : p.streams) s->set_capacity(plan.capacities.at(s->name));
    return plan.model;
  } catch (const model::description_error& malformed) {
    refuse(wish, malformed.what());
  }
}

}  // namespace sukima::objects::detail
