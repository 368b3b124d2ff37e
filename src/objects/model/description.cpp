// SPDX-License-Identifier: Apache-2.0
// Reads and writes the description of a program of concurrent objects.
#include "shared/description.hpp"

#include <algorithm>
#include <unordered_map>

#include "model/json_place.hpp"

namespace sukima::objects::model {
namespace {

using index = std::unordered_map<std::string, std::size_t>;

constexpr const char* version_name = "sukima-objects";
constexpr double most_seconds = 1e6, most_ns = 1e15, most_count = 1e15, most_per_input = 1e15;
constexpr double most_bytes = 1 << 30;

stream read_stream(const place& from) {
  from.expect_members({"name", "bytes", "capacity", "messages", "local"});
  stream result;
  result.name = from.member("name").name();
  if (from.has("bytes")) result.bytes = from.member("bytes").whole(0, most_bytes);
  if (from.has("capacity")) result.capacity = from.member("capacity").whole(1, most_capacity);
  if (from.has("messages")) result.messages = from.member("messages").number(0, most_count);
  if (from.has("local")) result.local = from.member("local").flag();
  return result;
}

std::size_t find_stream(const place& from, const index& streams) {
  const auto found = streams.find(from.text());
  if (found == streams.end()) from.fail("there is no stream '" + from.text() + "'");
  return found->second;
}

sending read_sending(const place& from, const index& streams) {
  from.expect_members({"stream", "per_input", "for"});
  sending result;
  result.stream = find_stream(from.member("stream"), streams);
  if (from.has("per_input")) result.per_input = from.member("per_input").number(0, most_per_input);
  if (from.has("for")) result.input = find_stream(from.member("for"), streams);
  return result;
}

void read_wishes(const place& from, object& result) {
  if (from.has("group")) result.group = from.member("group").name();
  if (!from.has("unit")) return;
  const place wish = from.member("unit");
  result.unit = unit_called(wish.text());
  if (!result.unit || result.unit == unit::pipe) wish.fail("must be 'simulated', 'thread' or 'process'");
}

object read_object(const place& from, const index& streams) {
  from.expect_members({"name", "compute_ns", "spread_ns", "blocked_ns", "receives", "sends", "starts",
                       "activations", "group", "unit"});
  object result;
  result.name = from.member("name").name();
  if (from.has("compute_ns")) result.compute_ns = from.member("compute_ns").number(0, most_ns);
  if (from.has("spread_ns")) result.spread_ns = from.member("spread_ns").number(0, most_ns);
  if (from.has("blocked_ns")) result.blocked_ns = from.member("blocked_ns").number(0, most_ns);
  if (from.has("starts")) result.starts = from.member("starts").number(0, most_count);
  if (from.has("activations")) result.activations = from.member("activations").number(0, most_count);
  if (from.has("receives"))
    from.member("receives").each([&](const place& one) {
      result.receives.push_back(find_stream(one, streams));
    });
  if (from.has("sends"))
    from.member("sends").each([&](const place& one) { result.sends.push_back(read_sending(one, streams)); });
  read_wishes(from, result);
  return result;
}

void add_once(std::vector<std::size_t>& ends, std::size_t end) {
  if (ends.empty() || ends.back() != end) ends.push_back(end);
}

/// Adds the object to its streams, and refuses an object that cannot run.
void connect(const place& from, std::size_t number, description& into) {
  const object& one = into.objects[number];
  for (const std::size_t input : one.receives) {
    std::vector<std::size_t>& receivers = into.streams[input].receivers;
    if (!receivers.empty() && receivers.back() == number)
      from.fail("receives the stream '" + into.streams[input].name + "' twice");
    receivers.push_back(number);
  }
  for (const sending& send : one.sends) {
    add_once(into.streams[send.stream].senders, number);
    if (!send.input) continue;
    if (std::ranges::find(one.receives, *send.input) == one.receives.end())
      from.fail("sends for the stream '" + into.streams[*send.input].name + "', which it does not receive");
  }
  if (one.receives.empty() && one.starts == 0)
    from.fail("receives nothing and never starts: give it 'starts' or 'receives'");
}

}  // namespace

description parse_description(std::string_view text) {
  const json document = parse_json<description_error>(text, "the description");
  const place root(document, "");
  root.expect_members({version_name, "program", "recorded", "objects", "streams"});
  if (root.member(version_name).value() != 1) root.member(version_name).fail("only version 1 is known");
  description result;
  if (root.has("program")) result.program = root.member("program").name();
  if (root.has("recorded")) {
    const place part = root.member("recorded");
    part.expect_members({"seconds", "whole"});
    result.recorded = {part.member("seconds").number(0, most_seconds), part.member("whole").flag()};
  }
  index streams, objects;
  root.member("streams").each([&](const place& one) {
    result.streams.push_back(read_stream(one));
    if (!streams.emplace(result.streams.back().name, result.streams.size() - 1).second)
      one.fail("there are two streams '" + result.streams.back().name + "'");
  });
  root.member("objects").each([&](const place& one) {
    if (result.objects.size() == most_objects) one.fail("there are more than 65536 objects");
    result.objects.push_back(read_object(one, streams));
    if (!objects.emplace(result.objects.back().name, result.objects.size() - 1).second)
      one.fail("there are two objects '" + result.objects.back().name + "'");
    connect(one, result.objects.size() - 1, result);
  });
  if (result.objects.empty()) root.member("objects").fail("there is no object");
  for (const stream& one : result.streams) {
    if (one.senders.empty()) root.fail("no object sends to the stream '" + one.name + "'");
    if (one.receivers.empty()) root.fail("no object receives from the stream '" + one.name + "'");
  }
  return result;
}

std::string description_text(const description& program) {
  json document = {{version_name, 1}, {"objects", json::array()}, {"streams", json::array()}};
  if (!program.program.empty()) document["program"] = program.program;
  if (program.recorded)
    document["recorded"] = {{"seconds", program.recorded->seconds}, {"whole", program.recorded->whole}};
  for (const stream& one : program.streams) {
    json entry = {{"name", one.name}, {"bytes", one.bytes}, {"capacity", one.capacity}};
    if (one.messages) entry["messages"] = *one.messages;
    if (one.local) entry["local"] = true;
    document["streams"].push_back(std::move(entry));
  }
  for (const object& one : program.objects) {
    json entry = {{"name", one.name}, {"compute_ns", one.compute_ns}, {"spread_ns", one.spread_ns}};
    if (one.blocked_ns > 0) entry["blocked_ns"] = one.blocked_ns;
    for (const std::size_t input : one.receives) entry["receives"].push_back(program.streams[input].name);
    for (const sending& send : one.sends) {
      json sends = {{"stream", program.streams[send.stream].name}, {"per_input", send.per_input}};
      if (send.input) sends["for"] = program.streams[*send.input].name;
      entry["sends"].push_back(std::move(sends));
    }
    if (one.starts > 0) entry["starts"] = one.starts;
    if (one.activations) entry["activations"] = *one.activations;
    if (!one.group.empty()) entry["group"] = one.group;
    if (one.unit) entry["unit"] = name_of(*one.unit);
    document["objects"].push_back(std::move(entry));
  }
  return document.dump(2) + "\n";
}

}  // namespace sukima::objects::model
