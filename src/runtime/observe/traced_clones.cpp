// SPDX-License-Identifier: Apache-2.0
// Names of places where clones begin, and their counts in the trace.
#include "observe/traced_clones.hpp"

#include "observe/trace.hpp"

#include <string_view>

namespace sukima::detail {

namespace {

/// The beginning of the template argument that ends before `end`.
std::size_t argument_begin(std::string_view text, std::size_t end) {
  unsigned depth = 0;
  for (std::size_t i = end; i != 0; --i) {
    const char c = text[i - 1];
    if (c == '>' || c == ')' || c == ']') ++depth;
    if (c == '<' || c == '(' || c == '[') {
      if (depth == 0) return i;
      --depth;
    }
    if (depth == 0 && c == ',') return text.find_first_not_of(' ', i);
  }
  return 0;
}

void remove_all(std::string& text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
}

}  // namespace

std::string shown_place(const std::string& name) {
  constexpr std::string_view tag = "Tag = ";
  constexpr std::string_view of_gcc = "::<lambda(";
  constexpr std::string_view of_clang = "(lambda at ";
  constexpr std::size_t longest = 120;
  const auto begin = name.find(tag);
  if (begin == std::string::npos) return name;
  std::string text = name.substr(begin + tag.size(), name.rfind(']') - begin - tag.size());
  if (const auto at = text.find(of_clang); at != std::string::npos) {
    const auto path = at + of_clang.size();
    text = text.substr(path, text.find(')', path) - path);
    text.erase(0, text.rfind('/') + 1);
  } else if (const auto end = text.find(of_gcc); end != std::string::npos) {
    const auto first = argument_begin(text, end);
    text = text.substr(first, end - first);
    for (const std::string context : {"sukima::tracked_context", "sukima::context"}) {
      remove_all(text, "<" + context + ">");
      remove_all(text, context + ", ");
    }
  }
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

void traced_clones::write(std::FILE* out, int process, double nanoseconds_per_tick) const {
  // no partner: statistics only
  const auto count = [](const std::atomic<std::uint64_t>& c) {
    return static_cast<unsigned long long>(c.load(std::memory_order_relaxed));
  };
  const std::string shown = quoted_for_trace(place);
  bool any = false;
  for (std::size_t depth = 0; depth < at.size(); ++depth) {
    const std::uint32_t expected = at[depth].expected.load(std::memory_order_relaxed);
    if (expected == 0) continue;
    any = true;
    std::fprintf(out,
                 ",\n{\"ph\":\"M\",\"name\":\"clones\",\"pid\":%d,\"args\":{\"place\":\"%s\",\"depth\":%zu,"
                 "\"expected_ns\":%.0f,\"clones\":%llu}}",
                 process, shown.c_str(), depth, static_cast<double>(expected) * nanoseconds_per_tick,
                 count(at[depth].clones));
  }
  if (!any) return;
  std::fprintf(
      out,
      ",\n{\"ph\":\"M\",\"name\":\"clone_polls\",\"pid\":%d,\"args\":{\"place\":\"%s\",\"served\":%llu,"
      "\"left_for_work\":%llu,\"left_for_abort\":%llu}}",
      process, shown.c_str(), count(served), count(left_for_work), count(left_for_abort));
}

}  // namespace sukima::detail
