// SPDX-License-Identifier: Apache-2.0
// The sequential clones of a trace, as text and as JSON; see run_profile.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ranges>

#include "explain/run_profile.hpp"
#include "shared/console.hpp"

namespace sukima::cli::explain {
namespace {

using place = std::pair<const std::string, recorded_clones>;

/// Returns the smallest and largest of some figures, or one figure if they are equal.
std::string range_text(const auto& values, const auto& text_of_one) {
  const auto [least, most] = std::ranges::minmax(values);
  const std::string from = text_of_one(least), to = text_of_one(most);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

std::string expected_text(const std::vector<double>& expected) { return range_text(expected, time_text); }

std::string calls_text(const recorded_clones& clones) {
  std::vector<std::uint64_t> depths;
  std::vector<double> expected, of_others;
  for (const auto& [depth, calls] : clones.at) {
    if (calls.clones != 0) depths.push_back(depth);
    (calls.clones != 0 ? expected : of_others).push_back(calls.expected);
  }
  if (depths.empty())
    return of_others.empty() ? "no call was timed"
                             : fmt::format("no clones: calls take {}", expected_text(of_others));
  const std::string where = range_text(depths, [](std::uint64_t depth) { return std::to_string(depth); });
  return fmt::format("{} clones at depth {}, expected to take {}", clones.clones(), where,
                     expected_text(expected));
}

/// Returns how many polls found a request pending in a clone, by result; empty: none.
std::string polls_text(const recorded_clones& clones) {
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view fate) {
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, fate);
  };
  add(clones.served, "gave older work away and went on");
  add(clones.left_for_work, "had none and ran the rest in parallel");
  add(clones.left_for_abort, "were aborted");
  return text;
}

}  // namespace

std::string text_of(const std::map<std::string, recorded_clones>& clones) {
  if (clones.empty()) return "";
  constexpr std::size_t most_shown = 8;
  std::vector<const place*> order;
  for (const place& p : clones) order.push_back(&p);
  std::ranges::sort(order, [](const place* a, const place* b) {
    const std::uint64_t first = a->second.clones(), second = b->second.clones();
    return first != second ? first > second : a->first < b->first;
  });
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "\nShort calls that ran as sequential clones, by place:\n");
  for (const place* p : order | std::views::take(most_shown)) {
    fmt::format_to(to, "  {}\n    {}\n", printable(p->first), calls_text(p->second));
    if (const std::string polls = polls_text(p->second); !polls.empty())
      fmt::format_to(to, "    when others wanted something: {}\n", polls);
  }
  if (order.size() > most_shown)
    fmt::format_to(to, "  and {} places with fewer clones (--json lists all)\n", order.size() - most_shown);
  return fmt::to_string(out);
}

nlohmann::json json_of(const std::map<std::string, recorded_clones>& clones) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [where, those] : clones) {
    nlohmann::json depths = nlohmann::json::array();
    for (const auto& [depth, calls] : those.at)
      depths.push_back({{"depth", depth}, {"expected", calls.expected}, {"clones", calls.clones}});
    list.push_back({{"place", where},
                    {"clones", those.clones()},
                    {"depths", depths},
                    {"polls",
                     {{"served", those.served},
                      {"left_for_work", those.left_for_work},
                      {"left_for_abort", those.left_for_abort}}}});
  }
  return list;
}

}  // namespace sukima::cli::explain
