// SPDX-License-Identifier: Apache-2.0
// When idle threads of OpenMP should sleep, on counters that are played.
#include <gtest/gtest.h>

#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

extern "C" {
#include "wait_judgement.h"
}

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t sampling = 50 * ms;

/// Samples a thread for a while that, in each time slice, waits for a CPU and then runs.
class sampled_thread {
 public:
  explicit sampled_thread(bool is_short) { wait_judgement_start(&judgement_, is_short, now_); }

  /// \return how often the answer changed
  unsigned run(std::uint64_t time, std::uint64_t waits, std::uint64_t runs) {
    unsigned changes = 0;
    for (const std::uint64_t end = now_ + time; now_ < end;) {
      now_ += sampling;
      const std::uint64_t slices = sampling / (waits + runs);
      const cap_schedstat did{slices * runs, slices * waits, slices};
      const bool before = judgement_.is_short;
      changes += wait_judgement_add(&judgement_, &did, now_) != before ? 1 : 0;
    }
    return changes;
  }
  bool is_short() const { return judgement_.is_short; }

 private:
  wait_judgement judgement_{};
  std::uint64_t now_ = 1000 * ms;
};

TEST(wait_judgement, wake_ups_of_threads_that_sleep_are_not_a_shortage) {
  // Clang's runtime with 20,000 regions a second on two idle CPUs: 2.4 us for each of two wake-ups.
  sampled_thread thread(true);
  thread.run(2000 * ms, 5 * us / 2, 4 * us);
  EXPECT_FALSE(thread.is_short()) << "threads that sleep would sleep for ever";
  thread.run(2000 * ms, 5 * us / 2, 4 * us);
  EXPECT_FALSE(thread.is_short());
}

TEST(wait_judgement, waits_for_a_cpu_that_another_thread_has_are_a_shortage) {
  sampled_thread thread(false);
  thread.run(100 * ms, 3 * ms, 3 * ms);
  EXPECT_TRUE(thread.is_short());
}

TEST(wait_judgement, a_shortage_ends_after_a_second_without_waiting) {
  sampled_thread thread(false);
  thread.run(100 * ms, 3 * ms, 3 * ms);
  thread.run(700 * ms, 0, 3 * ms);
  EXPECT_TRUE(thread.is_short());
  thread.run(600 * ms, 0, 3 * ms);
  EXPECT_FALSE(thread.is_short());
}

TEST(wait_judgement, spinning_is_tried_ever_more_rarely_where_it_brings_the_shortage_back) {
  // Threads that sleep are not in each other's way; as soon as they spin, they are.
  sampled_thread thread(true);
  unsigned changes = 0;
  for (int i = 0; i < 60 * 20; ++i)
    changes +=
        thread.is_short() ? thread.run(sampling, 5 * us, 50 * us) : thread.run(sampling, 3 * ms, 3 * ms);
  EXPECT_LE(changes, 2U * 9) << "after 1, 2, 4, 8, 16, 16 and 16 seconds in a minute";
  EXPECT_GE(changes, 2U * 4);
}

TEST(wait_judgement, the_pause_is_forgotten_after_a_second_of_spinning) {
  sampled_thread thread(true);
  for (int i = 0; i < 4; ++i) {
    thread.run(20000 * ms, 5 * us, 50 * us);
    EXPECT_FALSE(thread.is_short());
    thread.run(700 * ms, 3 * ms, 3 * ms);
    EXPECT_TRUE(thread.is_short());
  }
  thread.run(20000 * ms, 0, 3 * ms);
  thread.run(700 * ms, 3 * ms, 3 * ms);
  thread.run(1400 * ms, 0, 3 * ms);
  EXPECT_FALSE(thread.is_short());
}

/// Follows threads with these counters, every 50 ms. \return whether CPU is short in the end
bool follow(const std::vector<std::pair<pid_t, cap_schedstat>>& all, bool informative = true) {
  wait_judgement judgement{};
  std::uint64_t now = 1000 * ms;
  wait_judgement_start(&judgement, false, now);
  for (const auto& [thread, counters] : all)
    wait_judgement_follow(&judgement, thread, informative, &counters, now += sampling);
  return judgement.is_short;
}

TEST(wait_judgement, counters_of_one_thread_are_compared) {
  const cap_schedstat first{1000 * ms, 1000 * ms, 100}, waited{1010 * ms, 1040 * ms, 110};
  EXPECT_TRUE(follow({{7, first}, {7, waited}}));
  EXPECT_FALSE(follow({{7, first}, {7, waited}}, false)) << "with more threads than CPUs";
  EXPECT_FALSE(follow({{7, first}, {8, waited}})) << "another thread has begun the region";
}

TEST(wait_judgement, another_thread_with_the_same_number_begins_again) {
  const cap_schedstat late{1000 * ms, 10 * ms, 100}, waited_more{100 * ms, 50 * ms, 10},
      ran_more{2000 * ms, 0, 10};
  EXPECT_FALSE(follow({{7, late}, {7, waited_more}})) << "it has run less";
  EXPECT_FALSE(follow({{7, late}, {7, ran_more}})) << "it has waited less";
  // From then on its counters are compared.
  EXPECT_TRUE(follow({{7, late}, {7, waited_more}, {7, {110 * ms, 90 * ms, 20}}}));
}

TEST(wait_judgement, gaps_of_milliseconds_are_long_and_stay_so_until_they_are_much_shorter) {
  std::uint64_t mean = 0;
  const auto after = [&mean](std::uint64_t gap, int times) {
    for (int i = 0; i < times; ++i) mean = wait_judgement_mean_gap(mean, gap);
    return mean;
  };
  EXPECT_FALSE(wait_judgement_gaps_are_long(after(2 * ms, 50), false));
  EXPECT_TRUE(wait_judgement_gaps_are_long(after(10 * ms, 3), false));
  EXPECT_TRUE(wait_judgement_gaps_are_long(after(2 * ms, 50), true)) << "they were long before";
  EXPECT_FALSE(wait_judgement_gaps_are_long(after(1 * ms, 50), true));
}

TEST(wait_judgement, one_long_gap_among_short_ones_is_not_long) {
  std::uint64_t mean = 0;
  for (int i = 0; i < 50; ++i) mean = wait_judgement_mean_gap(mean, 100 * us);
  mean = wait_judgement_mean_gap(mean, 10000 * ms);
  EXPECT_FALSE(wait_judgement_gaps_are_long(mean, false));
}

}  // namespace
