// SPDX-License-Identifier: Apache-2.0
// The dialogue with QEMU's monitor; see qmp_dialogue.hpp.
#include "source/qmp_dialogue.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "shared/description.hpp"
#include "source/names.hpp"

namespace sukima::host {
namespace {

using nlohmann::json;

/// The queries. Each is also the id of its answer. Only the first and the last one must be answered without
/// an error, because older versions do not support all of them.
constexpr std::array questions = {"qmp_capabilities",        "query-name",     "query-uuid", "query-status",
                                  "query-hotpluggable-cpus", "query-cpus-fast"};

/// The member if it is a string; otherwise empty.
std::string text_in(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The member if it is a whole number from 0 to `most`.
std::optional<std::int64_t> number_in(const json& object, const char* name, std::int64_t most) {
  if (!object.is_object() || !object.contains(name) || !object[name].is_number_integer()) return std::nullopt;
  const json& value = object[name];
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    return std::nullopt;
  const auto number = value.get<std::int64_t>();
  if (number < 0 || number > most) return std::nullopt;
  return number;
}

/// Parses the answer to query-cpus-fast. \returns a description of an error; empty if there is none
std::string read_vcpus(const json& answer, std::vector<qmp_vcpu>& vcpus) {
  if (!answer.is_array() || answer.size() > most_vcpus) return "its list of virtual CPUs is malformed";
  for (const json& one : answer) {
    const auto index = number_in(one, "cpu-index", most_id);
    const auto thread = number_in(one, "thread-id", std::int64_t{1} << 30);
    if (!index || !thread || *thread == 0) return "its list of virtual CPUs is malformed";
    vcpus.push_back({static_cast<std::uint32_t>(*index), static_cast<long>(*thread)});
  }
  std::ranges::sort(vcpus, {}, &qmp_vcpu::id);
  if (std::ranges::adjacent_find(vcpus, {}, &qmp_vcpu::id) != vcpus.end())
    return "its list of virtual CPUs lists one of them twice";
  return "";
}

}  // namespace

void qmp_dialogue::fail(std::string why) {
  failure_ = std::move(why);
  ended_ = true;
}

std::string qmp_dialogue::take_questions() { return std::exchange(questions_, {}); }

void qmp_dialogue::receive(std::string_view bytes) {
  if (ended_) return;
  const std::string wrong = objects_.feed(bytes, [this](std::string_view text) {
    take_object(text);
    return !ended_;
  });
  if (!wrong.empty()) fail(wrong);
}

void qmp_dialogue::take_object(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return fail("it does not speak QMP");
  if (!greeted_) {
    if (!object.contains("QMP")) return fail("it does not speak QMP");
    greeted_ = true;
    for (const char* question : questions)
      questions_ += json{{"execute", question}, {"id", question}}.dump() + "\n";
    return;
  }
  if (object.contains("event")) return;
  const std::string id = text_in(object, "id");
  const auto question = std::ranges::find(questions, id);
  const std::uint32_t bit = question == questions.end() ? 0 : 1U << (question - questions.begin());
  if (bit == 0 || (answered_ & bit) != 0) return;  // not an answer to one of the queries
  if (object.contains("error")) {
    const std::string reason = text_in(object["error"], "desc");
    if (id == questions.front() || id == questions.back())
      return fail("it refuses " + id + ": " + printable_name(reason));
  } else if (object.contains("return")) {
    take_answer(id, object["return"]);
  } else {
    return;
  }
  answered_ |= bit;
  if (answered_ == (1U << questions.size()) - 1) ended_ = true;
}

void qmp_dialogue::take_answer(const std::string& id, const json& answer) {
  if (id == "query-name") {
    machine_.name = text_in(answer, "name");
  } else if (id == "query-uuid") {
    const std::string uuid = text_in(answer, "UUID");
    // Without the option -uuid, QEMU reports a UUID of zeros.
    if (uuid.find_first_not_of("0-") != std::string::npos) machine_.uuid = printable_name(uuid);
  } else if (id == "query-status") {
    if (answer.is_object() && answer.contains("running") && answer["running"].is_boolean())
      machine_.running = answer["running"].get<bool>();
  } else if (id == "query-hotpluggable-cpus") {
    if (!answer.is_array()) return;
    machine_.pluggable = 0;
    for (const json& one : answer)
      if (one.is_object() && !one.contains("qom-path"))
        machine_.pluggable += static_cast<std::size_t>(number_in(one, "vcpus-count", most_id).value_or(1));
    machine_.pluggable = std::min(machine_.pluggable, most_vcpus);
  } else if (id == "query-cpus-fast") {
    machine_.vcpus.clear();
    const std::string wrong = read_vcpus(answer, machine_.vcpus);
    if (!wrong.empty()) fail(wrong);
  }
}

}  // namespace sukima::host
