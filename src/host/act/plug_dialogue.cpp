// SPDX-License-Identifier: Apache-2.0
// Plugs in virtual CPUs through QEMU's monitor; see plug_dialogue.hpp.
#include "act/plug_dialogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "shared/description.hpp"
#include "source/names.hpp"

namespace sukima::host {
namespace {

using nlohmann::json;

constexpr std::int64_t most_thread = std::int64_t{1} << 30;

/// The member of this name; null if there is none.
json member_of(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : json();
}

std::string text_in(const json& object, const char* name) {
  const json found = member_of(object, name);
  return found.is_string() ? found.get<std::string>() : "";
}

/// The sort key of a place for a virtual CPU: all numbers that an architecture may give it, from the
/// outermost level to the innermost.
std::vector<std::int64_t> order_of(const json& place) {
  std::vector<std::int64_t> order;
  for (const char* name : {"node-id", "drawer-id", "book-id", "socket-id", "die-id", "cluster-id",
                           "module-id", "core-id", "thread-id"}) {
    const json number = member_of(place, name);
    order.push_back(number.is_number_integer() ? number.get<std::int64_t>() : 0);
  }
  return order;
}

}  // namespace

void plug_dialogue::fail(std::string why) {
  failure_ = std::move(why);
  ended_ = true;
}

std::string plug_dialogue::take_commands() { return std::exchange(commands_, {}); }

void plug_dialogue::receive(std::string_view bytes) {
  if (ended_) return;
  const std::string wrong = objects_.feed(bytes, [this](std::string_view text) {
    take_object(text);
    return !ended_;
  });
  if (!wrong.empty()) fail(wrong);
}

void plug_dialogue::command(const char* name, const json* arguments) {
  asked_ = name;
  json whole{{"execute", name}, {"id", name}};
  if (arguments != nullptr) whole["arguments"] = *arguments;
  commands_ += whole.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

void plug_dialogue::take_object(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || (asked_.empty() && !object.contains("QMP")))
    return fail("it does not speak QMP");
  if (asked_.empty()) return command("qmp_capabilities");
  if (object.contains("event") || text_in(object, "id") != asked_) return;
  if (object.contains("error"))
    return fail(fmt::format("it refuses {}: {}", asked_,
                            printable_name(text_in(member_of(object, "error"), "desc"))));
  if (object.contains("return")) take_answer(object["return"]);
}

void plug_dialogue::take_answer(const json& answer) {
  if (asked_ == "qmp_capabilities") return command("query-hotpluggable-cpus");
  if (asked_ == "query-cpus-fast") return take_threads(answer);
  if (asked_ == "query-hotpluggable-cpus")
    take_places(answer);
  else
    ++plugged_;
  if (!ended_) send_next();
}

/// Sends the command for the next virtual CPU, or the last query.
void plug_dialogue::send_next() {
  if (places_.empty()) return command("query-cpus-fast");
  const json arguments = json::parse(places_.back());
  places_.pop_back();
  command("device_add", &arguments);
}

void plug_dialogue::take_places(const json& places) {
  if (!places.is_array() || places.size() > most_vcpus)
    return fail("its list of places for virtual CPUs is malformed");
  std::size_t there = 0;
  std::map<std::vector<std::int64_t>, json> free;
  for (const json& one : places) {
    const json place = member_of(one, "props"), count = member_of(one, "vcpus-count");
    const std::string type = text_in(one, "type");
    if (!place.is_object() || type.empty() || count != 1)
      return fail("its places for virtual CPUs cannot be used: each must hold one virtual CPU");
    if (one.contains("qom-path")) {
      ++there;
      continue;
    }
    json arguments = place;
    arguments["driver"] = type;
    free[order_of(place)] = std::move(arguments);
  }
  if (there > count_)
    return fail(fmt::format("it already has {} virtual CPUs, and none is unplugged", there));
  if (count_ - there > free.size())
    return fail(fmt::format("it has room for {} virtual CPUs; start QEMU with -smp {},maxcpus={}",
                            there + free.size(), there, count_));
  std::size_t wanted = count_ - there;
  for (auto& [order, arguments] : free) {
    if (wanted == 0) break;
    --wanted;
    std::string id = "sukima-vcpu";
    for (const std::int64_t number : order) id += fmt::format("-{}", number);
    arguments["id"] = id;
    places_.push_back(arguments.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  std::ranges::reverse(places_);
}

void plug_dialogue::take_threads(const json& vcpus) {
  std::map<std::int64_t, long> found;
  for (const json& one : vcpus) {
    const json index = member_of(one, "cpu-index"), thread = member_of(one, "thread-id");
    if (!index.is_number_integer() || !thread.is_number_integer() || thread.get<std::int64_t>() <= 0 ||
        thread.get<std::int64_t>() > most_thread)
      return fail("its list of virtual CPUs is malformed");
    found[index.get<std::int64_t>()] = thread.get<long>();
  }
  if (found.size() != count_)
    return fail(fmt::format("it ended up with {} virtual CPUs instead of {}", found.size(), count_));
  for (const auto& [index, thread] : found) threads_.push_back(thread);
  ended_ = true;
}

}  // namespace sukima::host
