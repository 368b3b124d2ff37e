// SPDX-License-Identifier: Apache-2.0
// The measured speed of the CPU's counter, and what is converted with it.
#include "tuning.hpp"
#include "support.hpp"

#include <sukima/detail/loop.hpp>

#include <chrono>
#include <thread>

namespace {

using clock = std::chrono::steady_clock;

/// Nanoseconds that f takes.
template <class F> double nanoseconds_of(F&& f) {
  const clock::time_point begin = clock::now();
  f();
  return std::chrono::duration<double, std::nano>(clock::now() - begin).count();
}

TEST(tuning, the_counter_runs_as_fast_as_a_long_measurement_says) {
  std::uint64_t counted = 0;
  const double took = nanoseconds_of([&] {
    const std::uint64_t begin = sukima::detail::ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    counted = sukima::detail::ticks() - begin;
  });
  const double rate = static_cast<double>(counted) / took;
  // The short measurement errs by less than 2 %; the rest is for a thread that loses its CPU in this one.
  EXPECT_NEAR(sukima::detail::ticks_per_nanosecond() / rate, 1, 0.05);
  EXPECT_NEAR(sukima::detail::seconds_per_tick() * 1e9 * rate, 1, 0.05);
}

TEST(tuning, the_rate_is_measured_once) {
  const double first = sukima::detail::ticks_per_nanosecond();
  EXPECT_EQ(sukima::detail::ticks_per_nanosecond(), first);
  // A second measurement would take 5 µs for each of these.
  const double took = nanoseconds_of([] {
    for (int i = 0; i < 100'000; ++i) static_cast<void>(sukima::detail::ticks_per_nanosecond());
  });
  EXPECT_LT(took, 100'000.0 * sukima::detail::tuning::clock_measurement_ns / 5);
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
