// SPDX-License-Identifier: Apache-2.0
// The pauses of the monitor, on looks that are played.
#include "control/monitor_pace.hpp"

#include <gtest/gtest.h>

#include <chrono>

using sukima::detail::monitor_pace;
using namespace std::chrono_literals;

namespace {

/// Plays the monitor for this time: it looks, judges, and pauses.
/// \return the part of the time that its looks took
double part_of_looks(std::chrono::nanoseconds time, std::chrono::nanoseconds look) {
  monitor_pace pace;
  std::chrono::nanoseconds now{0}, looks{0};
  while (now < time) {
    now += pace.pause() + look;
    looks += look;
    pace.looked(look);
    pace.lengthen(false);
  }
  return std::chrono::duration<double>(looks) / now;
}

TEST(monitor_pace, the_first_looks_come_early_and_the_pauses_double) {
  monitor_pace pace;
  for (const auto expected : {25ms, 50ms, 100ms, 200ms, 400ms, 400ms}) {
    EXPECT_EQ(pace.pause(), expected);
    pace.looked(200us);
    pace.lengthen(false);
  }
  pace.lengthen(true);
  EXPECT_EQ(pace.pause(), 200ms) << "CPU is short";
  pace.looked(1s);
  pace.restart();
  EXPECT_EQ(pace.pause(), 25ms) << "also after a dear look";
}

TEST(monitor_pace, a_change_of_the_capacity_shortens_a_long_pause_only) {
  monitor_pace pace;
  pace.hurry();
  EXPECT_EQ(pace.pause(), 25ms);
  for (int i = 0; i < 10; ++i) pace.lengthen(false);
  pace.hurry();
  EXPECT_EQ(pace.pause(), 200ms);
}

TEST(monitor_pace, looks_take_two_per_cent_at_most_where_each_takes_long) {
  // As in one of sixteen emulated machines: a look takes 4 ms of CPU, and eight times as long by the clock.
  EXPECT_LT(part_of_looks(60s, 32ms), 0.021);
  EXPECT_LT(part_of_looks(60s, 4ms), 0.02);
}

TEST(monitor_pace, pauses_stay_short_enough_to_follow_a_quota) {
  monitor_pace pace;
  pace.looked(1s);
  EXPECT_EQ(pace.pause(), 2s);
  pace.looked(100us);
  EXPECT_EQ(pace.pause(), 25ms) << "only the last look counts";
}

}  // namespace
