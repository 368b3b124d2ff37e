// SPDX-License-Identifier: Apache-2.0
// The measured speed of the CPU's counter, and what is converted with it.
#include "constants.hpp"
#include "support.hpp"

#include <sukima/detail/ticks.hpp>

#include <chrono>
#include <cmath>
#include <thread>

namespace {

using clock = std::chrono::steady_clock;

struct moment {
  std::uint64_t ticks;
  clock::time_point time;
};

/// Both clocks, read again until this thread has lost its CPU for no more than 100 µs between them.
moment now() {
  for (;;) {
    const clock::time_point before = clock::now();
    const std::uint64_t ticks = sukima::detail::ticks();
    if (clock::now() - before < std::chrono::microseconds(100)) return {ticks, before};
  }
}

/// The short measurement, which an interrupt can spoil, is in timing_test.cpp.
TEST(tuning, the_counter_runs_as_fast_as_a_long_measurement_says) {
  const double first = sukima::detail::seconds_per_tick();
  EXPECT_GT(first, 0);
  const moment begin = now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const moment end = now();
  const double rate = static_cast<double>(end.ticks - begin.ticks) /
                      std::chrono::duration<double, std::nano>(end.time - begin.time).count();
  // Interrupts spoil it less and less, the longer it lasts; this one errs by less than 0.4 %.
  EXPECT_TRUE(support::sleep_until(
      [&] { return std::abs(sukima::detail::seconds_per_tick() * 1e9 * rate - 1) < 0.05; }));
}

/// Two measurements would give the same number once in a while, and not again and again.
TEST(tuning, the_rate_is_measured_once) {
  const double first = sukima::detail::ticks_per_nanosecond();
  EXPECT_GT(first, 0);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(sukima::detail::ticks_per_nanosecond(), first);
}

TEST(tuning, nanoseconds_become_ticks) {
  const sukima::detail::tuned_ticks slow(0.024);  // a counter of 24 MHz
  const sukima::detail::tuned_ticks fast(3);
  namespace tuning = sukima::detail::tuning;
  EXPECT_EQ(fast.adaptive_spin, 3 * tuning::adaptive_spin_ns);
  EXPECT_EQ(fast.minimum_steal_age, 3 * tuning::minimum_steal_age_ns);
  EXPECT_EQ(slow.minimum_steal_age, tuning::minimum_steal_age_ns * 24 / 1000);
  EXPECT_EQ(slow.idle_grace, tuning::idle_grace_ns * 24 / 1000);
}

}  // namespace
