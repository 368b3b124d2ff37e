// SPDX-License-Identifier: Apache-2.0
// How long searches stay short after signs that others want the CPUs (park/contention.hpp).
#include "park/contention.hpp"

#include <gtest/gtest.h>

namespace {

using sukima::detail::contention;

constexpr std::uint64_t least = 20;
constexpr std::uint64_t most = 160;

/// Records a sign, and returns how long it counts.
std::uint64_t memory_after(contention& c, std::uint64_t now) {
  c.note(now, least, most);
  std::uint64_t until = now;
  while (c.is_recent(until)) ++until;
  return until - now;
}

TEST(contention, has_no_sign_at_first) { EXPECT_FALSE(contention().is_recent(0)); }

TEST(contention, is_forgotten_after_the_shortest_time) {
  contention c;
  EXPECT_EQ(memory_after(c, 5), least);  // not a recurrence, although the clock is near its start
  EXPECT_EQ(memory_after(c, 5 + least - 1), least);  // while it lasts
}

TEST(contention, is_remembered_four_times_as_long_if_it_recurs_at_once) {
  contention c;
  std::uint64_t now = 1'000;
  std::uint64_t length = memory_after(c, now);
  for (const std::uint64_t expected : {80u, 160u, 160u}) {
    now += length + length - 1;  // just before searches have been long for as long as they were short
    length = memory_after(c, now);
    EXPECT_EQ(length, expected);
  }
  now += length / 2;
  EXPECT_EQ(memory_after(c, now), length);  // further signs prolong it, but do not multiply it
}

TEST(contention, is_remembered_as_briefly_as_at_first_after_a_silence) {
  contention c;
  c.note(1'000, least, most);
  c.note(1'030, least, most);
  EXPECT_EQ(memory_after(c, 1'030 + 160), least);
}

}  // namespace
