// SPDX-License-Identifier: Apache-2.0
// The tuner on programs that are played: regions whose length depends on the number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <vector>

extern "C" {
#include "tuner.h"
}

namespace {

constexpr double second = 1e9;

/// Plays a program on a clock of its own.
class played_program {
 public:
  /// \param seconds_of_region how long a region takes with so many threads at a time
  played_program(tuner_limits limits, std::function<double(unsigned, double)> seconds_of_region)
      : region_(std::move(seconds_of_region)) {
    tuner_start(&tuner_, &limits, 0);
  }

  /// Runs until this time; each step is one region, or with `kinds` > 1 one after the other of different
  /// kinds, and `pause` seconds without threads after it.
  void run_until(double end, unsigned kinds = 1, double pause = 0) {
    while (now_ < end * second) {
      threads_ = tuner_region_begins(&tuner_, 0x1000U + regions_ % kinds, static_cast<std::uint64_t>(now_));
      const double length = region_(threads_, now_ / second) * second;
      now_ += length;
      time_with_[threads_] += length / second;
      ++regions_;
      if (threads_ != last_) ++switches_;
      last_ = threads_;
      tuner_region_ends(&tuner_, static_cast<std::uint64_t>(now_));
      now_ += pause * second;
    }
  }

  void set_short(bool is_short) { tuner_supply_changed(&tuner_, is_short, static_cast<std::uint64_t>(now_)); }
  /// In a second of CPU time.
  void switch_threads(std::uint64_t given_up, std::uint64_t lost) {
    tuner_switches(&tuner_, 1, given_up, lost);
  }
  /// At barriers, beside a neighbour that takes each turn of 3 ms.
  void let_threads_sleep() { switch_threads(1000, 300); }

  unsigned chosen() const { return tuner_.chosen; }
  double time_with(unsigned threads) const {
    const auto found = time_with_.find(threads);
    return found == time_with_.end() ? 0 : found->second;
  }
  double time_without(unsigned threads) const { return now_ / second - time_with(threads); }
  unsigned switches() const { return switches_; }
  unsigned long regions() const { return regions_; }

 private:
  std::function<double(unsigned, double)> region_;
  tuner tuner_{};
  double now_ = 0;
  unsigned threads_ = 0, last_ = 0, switches_ = 0;
  unsigned long regions_ = 0;
  std::map<unsigned, double> time_with_;
};

TEST(tuner, keeps_a_good_number_and_tries_rarely) {
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double) { return k == 2 ? 0.001 : 0.0018; });
  program.run_until(60);
  EXPECT_EQ(program.chosen(), 2U);
  EXPECT_LT(program.time_without(2), 60 * 0.06);
  EXPECT_LT(program.switches(), 30U);
}

TEST(tuner, short_runs_are_left_alone) {
  played_program program({2, 2, 1, 4, 2}, [](unsigned, double) { return 0.001; });
  program.run_until(1.0);
  EXPECT_EQ(program.switches(), 1U) << "the first region's number, and no other one";
}

TEST(tuner, finds_that_fewer_threads_are_better) {
  // A program that waits actively in its own code beside hogs.
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double) { return k == 1 ? 0.002 : 0.03 * k; });
  program.run_until(10);
  EXPECT_EQ(program.chosen(), 1U);
  EXPECT_LT(program.time_without(1), 3.5);
}

TEST(tuner, finds_that_more_threads_than_cpus_are_better) {
  played_program program({1, 1, 1, 4, 2}, [](unsigned k, double) { return 0.002 / k; });
  program.set_short(true);
  program.run_until(10);
  EXPECT_EQ(program.chosen(), 4U);
}

TEST(tuner, does_not_change_for_a_few_per_cent) {
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double) { return k == 2 ? 0.001 : 0.00093; });
  program.run_until(30);
  EXPECT_EQ(program.chosen(), 2U);
}

TEST(tuner, stops_early_with_a_number_that_is_much_worse) {
  played_program program({1, 1, 1, 4, 2}, [](unsigned k, double) { return k == 1 ? 0.0005 : 0.05; });
  program.run_until(10);
  EXPECT_EQ(program.chosen(), 1U);
  EXPECT_LT(program.time_without(1), 0.2);
  EXPECT_EQ(program.time_with(4), 0) << "if two are hopeless, four are not tried";
}

TEST(tuner, one_region_that_takes_long_ends_the_experiment_of_its_number) {
  played_program program({1, 1, 1, 4, 2}, [](unsigned k, double) { return k == 1 ? 0.01 : 2.0; });
  program.run_until(12);
  EXPECT_EQ(program.chosen(), 1U);
  EXPECT_LT(program.time_without(1), 2.1) << "one region of two seconds";
}

TEST(tuner, tries_no_more_threads_in_a_run_of_some_long_regions) {
  // As CG in a busy place: sixteen regions of a fifth of a second.
  played_program program({1, 1, 1, 4, 2}, [](unsigned, double) { return 0.2; });
  program.run_until(3.2);
  EXPECT_EQ(program.time_with(1), program.time_with(1) + program.time_with(2) + program.time_with(4));
}

TEST(tuner, keeps_within_its_limits) {
  for (const unsigned most : {1U, 2U, 3U}) {
    std::vector<unsigned> seen;
    played_program program({1, 1, 1, most, 2}, [&](unsigned k, double) {
      seen.push_back(k);
      return 0.002 / k;
    });
    program.run_until(20);
    for (const unsigned k : seen) {
      EXPECT_GE(k, 1U);
      EXPECT_LE(k, most);
    }
  }
}

TEST(tuner, notices_when_the_neighbours_have_changed) {
  // From second 20 on two threads are much slower than one.
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double at) {
    if (at < 20) return k == 1 ? 0.002 : 0.001;
    return k == 1 ? 0.002 : 0.02;
  });
  program.run_until(20);
  EXPECT_EQ(program.chosen(), 2U);
  program.run_until(26);
  EXPECT_EQ(program.chosen(), 1U);
}

TEST(tuner, is_not_misled_by_regions_of_many_kinds) {
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double) { return k == 2 ? 0.0001 : 0.00018; });
  program.run_until(30, 100);
  EXPECT_EQ(program.chosen(), 2U);
}

TEST(tuner, compares_regions_of_different_lengths_each_with_itself) {
  // One in fifty takes as long as all others together, and an experiment may see it or not.
  unsigned long number = 0;
  played_program program({2, 2, 1, 4, 2}, [&](unsigned k, double) {
    const double length = number++ % 50 == 0 ? 0.05 : 0.001;
    return k == 2 ? length : length * 1.05;
  });
  program.run_until(60, 50);
  EXPECT_EQ(program.chosen(), 2U);
}

TEST(tuner, gains_are_seen_although_most_time_passes_outside_regions) {
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double) { return k == 2 ? 0.004 : 0.001; });
  program.run_until(20, 1, 0.02);
  EXPECT_EQ(program.chosen(), 1U);
}

TEST(tuner, detects_active_waiting_within_the_first_moments) {
  // The estimate says one for threads that wait actively, two for those that sleep.
  played_program program({2, 1, 1, 4, 2}, [](unsigned k, double) { return k == 1 ? 0.002 : 0.02; });
  program.run_until(0.4);
  EXPECT_EQ(program.chosen(), 1U);
  EXPECT_LT(program.time_with(2), 0.15);
}

TEST(tuner, does_not_hurry_if_threads_sleep) {
  played_program program({2, 1, 1, 4, 2}, [](unsigned k, double) { return k == 1 ? 0.0025 : 0.002; });
  program.let_threads_sleep();
  program.run_until(0.95);
  EXPECT_EQ(program.switches(), 1U);
  EXPECT_EQ(program.chosen(), 2U);
}

TEST(tuner, hurries_if_threads_wait_actively_between_barriers_at_which_they_sleep) {
  // As LU beside a copy of itself: counters and times of region as measured.
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double) { return k == 1 ? 0.008 : 0.04; });
  program.set_short(true);
  program.switch_threads(515, 2336);
  program.run_until(0.9);
  EXPECT_EQ(program.chosen(), 1U);
  EXPECT_LT(program.time_with(2), 0.2);
}

TEST(tuner, threads_that_sleep_may_lose_their_cpus_as_often) {
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double) { return k == 1 ? 0.0025 : 0.002; });
  program.set_short(true);
  program.switch_threads(100, 350);
  program.run_until(0.95);
  EXPECT_EQ(program.time_with(1), 0) << "each turn of 3 ms ends in a switch";
  program.switch_threads(3000, 3000);
  program.run_until(0.99);
  EXPECT_EQ(program.time_with(1), 0);
}

TEST(tuner, an_early_experiment_does_not_believe_small_differences) {
  played_program program({2, 1, 1, 4, 2}, [](unsigned k, double) { return k == 1 ? 0.001 : 0.0012; });
  program.run_until(0.3);
  EXPECT_EQ(program.chosen(), 2U);
  EXPECT_GT(program.time_with(1), 0) << "there was an experiment";
  program.run_until(10);
  EXPECT_EQ(program.chosen(), 1U) << "a longer one decides";
}

TEST(tuner, looks_again_as_soon_as_cpu_becomes_short) {
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double at) {
    return at < 0.2 ? 0.002 / k : k == 1 ? 0.002 : 0.02;
  });
  program.run_until(0.25);
  EXPECT_EQ(program.time_with(1), 0);
  program.set_short(true);
  program.run_until(0.6);
  EXPECT_EQ(program.chosen(), 1U);
}

TEST(tuner, regions_that_take_seconds_are_left_alone) {
  played_program program({2, 2, 1, 4, 2}, [](unsigned k, double) { return k == 2 ? 4.0 : 8.0; });
  program.run_until(200);
  EXPECT_EQ(program.chosen(), 2U);
  EXPECT_LT(program.time_without(2), 200 * 0.13);
}

}  // namespace
