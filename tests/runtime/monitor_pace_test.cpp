// SPDX-License-Identifier: Apache-2.0
// The pauses of the monitor, with simulated samples.
#include "control/monitor_pace.hpp"

#include <gtest/gtest.h>

#include <chrono>

using sukima::detail::monitor_pace;
using namespace std::chrono_literals;

namespace {

/// Plays the monitor for this time: it samples, judges, and pauses.
/// \return the part of the time that its samples took
double part_of_samples(std::chrono::nanoseconds time, std::chrono::nanoseconds sample) {
  monitor_pace pace;
  std::chrono::nanoseconds now{0}, samples{0};
  while (now < time) {
    now += pace.pause() + sample;
    samples += sample;
    pace.sampled(sample);
    pace.lengthen(false);
  }
  return std::chrono::duration<double>(samples) / now;
}

TEST(monitor_pace, the_first_samples_come_early_and_the_pauses_double) {
  monitor_pace pace;
  for (const auto expected : {25ms, 50ms, 100ms, 200ms, 400ms, 400ms}) {
    EXPECT_EQ(pace.pause(), expected);
    pace.sampled(200us);
    pace.lengthen(false);
  }
  pace.lengthen(true);
  EXPECT_EQ(pace.pause(), 200ms) << "CPU is short";
  pace.sampled(1s);
  pace.restart();
  EXPECT_EQ(pace.pause(), 25ms) << "also after an expensive sample";
}

TEST(monitor_pace, a_change_of_the_capacity_shortens_a_long_pause_only) {
  monitor_pace pace;
  pace.hurry();
  EXPECT_EQ(pace.pause(), 25ms);
  for (int i = 0; i < 10; ++i) pace.lengthen(false);
  pace.hurry();
  EXPECT_EQ(pace.pause(), 200ms);
}

TEST(monitor_pace, samples_take_two_per_cent_at_most_where_each_takes_long) {
  // As in one of sixteen emulated machines: a sample takes 4 ms of CPU, and eight times as long by the clock.
  EXPECT_LT(part_of_samples(60s, 32ms), 0.021);
  EXPECT_LT(part_of_samples(60s, 4ms), 0.02);
}

TEST(monitor_pace, pauses_stay_short_enough_to_follow_a_quota) {
  monitor_pace pace;
  pace.sampled(1s);
  EXPECT_EQ(pace.pause(), 2s);
  pace.sampled(100us);
  EXPECT_EQ(pace.pause(), 25ms) << "only the last sample counts";
}

}  // namespace
