// SPDX-License-Identifier: Apache-2.0
// Reading /proc/stat: only its first line counts, and only if it is the sum of all CPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "text/counters.h"
}

namespace {

constexpr cap_machine_stat unchanged{1, 2, 3};

/// The result, and `unchanged` if the content is refused.
cap_machine_stat parsed(const std::string& content, bool& is_accepted) {
  cap_machine_stat result = unchanged;
  is_accepted = cap_parse_machine_stat({content.data(), content.data() + content.size()}, &result);
  return result;
}

void expect_refused(const std::string& content) {
  bool is_accepted = true;
  const cap_machine_stat result = parsed(content, is_accepted);
  EXPECT_FALSE(is_accepted) << content;
  EXPECT_EQ(result.busy, unchanged.busy) << content;
  EXPECT_EQ(result.idle, unchanged.idle) << content;
  EXPECT_EQ(result.stolen, unchanged.stolen) << content;
}

TEST(machine_stat, is_the_sum_line) {
  bool is_accepted = false;
  const cap_machine_stat result =
      parsed("cpu  10 2 30 400 5 6 7 8 9 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n", is_accepted);
  ASSERT_TRUE(is_accepted);
  EXPECT_EQ(result.busy, 10U + 2 + 30 + 6 + 7);
  EXPECT_EQ(result.idle, 405U);
  EXPECT_EQ(result.stolen, 8U);
}

TEST(machine_stat, without_the_sum_line_is_refused) {
  for (const char* content :
       {"", "\n", "cpu\n", "cpu0 1 2 3 4\n", "cpu0 1 2 3 4\ncpu  1 2 3 4\n", "intr 1\ncpu  1 2 3 4\n",
        " cpu  1 2 3 4\n", "cpu  1 2 3\n", "cpu  1 2 -3 4\n", "cpu  1 2 3 x\n"})
    expect_refused(content);
}

// Lines of CPUs in any order, twice, or missing, with the sum anywhere: the first line decides.
TEST(machine_stat, takes_the_first_line_or_nothing_whatever_follows) {
  std::mt19937 draw(20260105);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> lines;
    for (auto n = draw() % 8; n > 0; --n) {
      const auto cpu = draw() % 6;
      std::string line = cpu == 5 ? "cpu " : "cpu" + std::to_string(cpu);
      for (auto field = draw() % 11; field > 0; --field) line += " " + std::to_string(draw() % 1000);
      lines.push_back(std::move(line));
    }
    std::string content;
    for (const std::string& line : lines) content += line + "\n";
    const std::string first = lines.empty() ? "" : lines.front();
    const bool is_sum = first.starts_with("cpu ") && std::ranges::count(first, ' ') >= 1 + 4;
    if (!is_sum) {
      expect_refused(content);
      continue;
    }
    bool is_accepted = false;
    bool alone_is_accepted = false;
    const cap_machine_stat all = parsed(content, is_accepted);
    const cap_machine_stat alone = parsed(first, alone_is_accepted);
    EXPECT_TRUE(is_accepted && alone_is_accepted) << content;
    EXPECT_EQ(all.busy, alone.busy) << content;
    EXPECT_EQ(all.idle, alone.idle) << content;
    EXPECT_EQ(all.stolen, alone.stolen) << content;
  }
}

}  // namespace
