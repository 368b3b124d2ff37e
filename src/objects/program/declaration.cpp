// SPDX-License-Identifier: Apache-2.0
// The declarations of a program: their check before it runs, and their text with a line for each stream and
// object. Two processes with the same text can exchange messages.
#include "program/declaration.hpp"
#include "program/program_core.hpp"

#include <base/shared/exception_text.hpp>

#include <string_view>
#include <unordered_set>

namespace sukima::objects::detail {

void program_core::check() const {
  if (objects.empty()) throw usage_error("sukima: a program without objects was run");
  std::unordered_set<std::string_view> names;
  for (const auto& o : objects)
    if (!names.insert(o->name).second)
      throw usage_error("sukima: two objects are called " + o->name + "; their names must differ");
  names.clear();
  for (const auto& s : streams) {  // before the program runs no other thread changes the counts
    if (!names.insert(s->name).second)
      throw usage_error("sukima: two streams are called " + s->name + "; their names must differ");
    const std::uint32_t outs = s->outs.load(std::memory_order_relaxed);
    if (outs == 0) throw usage_error("sukima: no object can send to the stream " + s->name);
    const std::uint32_t ins = s->ins.load(std::memory_order_relaxed);
    if (ins == 0) throw usage_error("sukima: no object can receive from the stream " + s->name);
  }
}

std::string type_name(const stream_core& s) { return demangled(s.type); }

std::string declaration_of(const program_core& p) {
  std::string text;
  for (const auto& s : p.streams)  // before the program runs no other thread changes the counts
    text += "stream " + s->name + " of " + type_name(*s) + ", " + std::to_string(s->slot_size) +
            " bytes, aligned to " + std::to_string(s->slot_alignment) + ", capacity " +
            std::to_string(s->capacity) + ", " + std::to_string(s->outs.load(std::memory_order_relaxed)) +
            " sending and " + std::to_string(s->ins.load(std::memory_order_relaxed)) + " receiving ends\n";
  for (const auto& o : p.objects) {
    text.append("object ").append(o->name);
    if (!o->group.empty()) text.append(" of the group ").append(o->group);
    if (o->at_home) text.append(", at home");
    for (const held_end& e : o->ends)
      text.append(e.is_out ? ", sends to " : ", receives from ").append(e.stream->name);
    text.push_back('\n');
  }
  return text;
}

std::string first_difference(std::string_view wanted, std::string_view found) {
  const auto line_of = [](std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    return line;
  };
  const auto quoted = [](std::string_view line) {
    std::string text(line.empty() ? "nothing" : "'");
    if (!line.empty()) text.append(line).push_back('\'');
    return text;
  };
  while (!wanted.empty() || !found.empty()) {
    const std::string_view first = line_of(wanted);
    const std::string_view second = line_of(found);
    if (first != second) return quoted(second).append(" instead of ").append(quoted(first));
  }
  return {};
}

}  // namespace sukima::objects::detail
