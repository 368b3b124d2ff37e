// SPDX-License-Identifier: Apache-2.0
// Reads plan files; see plan_reader.hpp. This file is also a part of libsukima, so it uses nothing of the
// planner.
#include "shared/plan_reader.hpp"

#include <set>

#include "model/json_place.hpp"

namespace sukima::objects::model {
namespace {

constexpr double most_cpus = 65536, most_predicted_ns = 1e30;

void read_groups(const place& from, named_plan& into) {
  std::set<std::string> seen;
  from.each([&](const place& members) {
    into.groups.emplace_back();
    members.each([&](const place& name) {
      const std::string text = name.text();
      if (!seen.insert(text).second) name.fail("'" + text + "' is in two groups");
      into.groups.back().push_back(text);
    });
  });
}

void read_capacities(const place& from, named_plan& into) {
  if (!from.value().is_object()) from.fail("must be a JSON object");
  for (const auto& [name, unused] : from.value().items())
    into.capacities[name] = from.member(name.c_str()).whole(1, most_capacity);
}

}  // namespace

std::string hexadecimal(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; i++, value >>= 4) text[15 - i] = "0123456789abcdef"[value & 15];
  return text;
}

named_plan read_plan(std::string_view text, std::uint64_t machine_hash) {
  constexpr const char* version_name = "sukima-objects-plan";
  const json document = parse_json<description_error>(text, "the plan");
  const place root(document, "", "the plan");
  root.expect_members(
      {version_name, "program", "machine", "cpus", "model", "predicted_ns", "groups", "capacities"});
  if (root.member(version_name).value() != 1) root.member(version_name).fail("only version 1 is known");
  if (root.member("machine").text() != hexadecimal(machine_hash))
    root.fail("it was made for another machine: make a new plan");
  named_plan result;
  result.program = root.member("program").text();
  const std::optional<execution_model> model = model_called(root.member("model").text());
  if (!model) root.member("model").fail("there is no such model");
  result.model = *model;
  result.cpus = root.member("cpus").number(0, most_cpus);
  result.predicted_ns = root.member("predicted_ns").number(0, most_predicted_ns);
  read_groups(root.member("groups"), result);
  read_capacities(root.member("capacities"), result);
  return result;
}

}  // namespace sukima::objects::model
