// SPDX-License-Identifier: Apache-2.0
// Slices: by the time that messages take, and what they do for the others of an island where one computes.
#include "schedule/slice.hpp"

#include <time.h>

#include <algorithm>

#include "support.hpp"

namespace {

using namespace support;
using sukima::objects::detail::clock_reading;
using sukima::objects::detail::slice_length;

constexpr std::uint64_t tick_ms = 2'000'000;  // of a counter with 2 GHz

/// Slices of one thread, with made-up clocks.
class made_up_slices {
 public:
  slice_length length;
  clock_reading now{1, 0, 0, 0};
  int looks = 0;

  /// A slice that took so long, and in which so much was computed.
  void slice(double wall_ms, double cpu_ms) {
    now.wall_ns += static_cast<std::uint64_t>(1e6 * wall_ms);
    now.cpu_ns += static_cast<std::uint64_t>(1e6 * cpu_ms);
    const auto took = static_cast<std::uint64_t>(wall_ms * tick_ms);
    now.ticks += took;
    length.ended(took, [this] {
      ++looks;
      return now;
    });
  }
};

TEST(slice, has_64_messages_while_they_are_quick) {
  made_up_slices s;
  for (int i = 0; i < 1000; ++i) s.slice(0.01, 0.01);
  EXPECT_EQ(s.length.messages(), 64U);
  EXPECT_EQ(s.looks, 0) << "the kernel is not asked";
}

TEST(slice, is_as_long_as_a_millisecond_where_objects_compute) {
  made_up_slices s;
  s.slice(640, 640);
  EXPECT_EQ(s.length.messages(), 64U) << "nothing is known of what was before";
  s.slice(0.01, 0.01);
  s.slice(640, 640);
  EXPECT_EQ(s.length.messages(), 1U) << "10 ms a message";
}

TEST(slice, has_as_many_messages_as_fit) {
  made_up_slices s;
  s.slice(16, 16);
  s.slice(16, 16);
  EXPECT_EQ(s.length.messages(), 4U) << "0.25 ms a message";
  s.slice(1, 1);
  EXPECT_EQ(s.length.messages(), 4U);
  s.slice(4, 4);
  EXPECT_LE(s.length.messages(), 1U);
}

TEST(slice, stays_where_the_island_waited_or_had_no_cpu) {
  made_up_slices s;
  for (int i = 0; i < 100; ++i) {
    s.slice(100, 0.02);
    for (int quick = 0; quick < 1000; ++quick) s.slice(0.02, 0.02);
  }
  EXPECT_EQ(s.length.messages(), 64U);
  EXPECT_EQ(s.looks, 100);
}

TEST(slice, does_not_mix_the_times_of_threads) {
  made_up_slices s;
  s.slice(100, 1);
  s.now.thread = 2;
  s.now.cpu_ns = 5'000'000'000;
  s.slice(100, 1);
  EXPECT_EQ(s.length.messages(), 64U);
}

TEST(slice, is_long_again_after_many_that_were_quick) {
  made_up_slices s;
  s.slice(640, 640);
  s.slice(640, 640);
  ASSERT_EQ(s.length.messages(), 1U);
  for (unsigned i = 0; i < 1000; ++i) s.slice(0.2, 0.2);
  EXPECT_EQ(s.length.messages(), 1U) << "64 of them would not fit";
  for (unsigned i = 1; i < slice_length::calm_slices; ++i) s.slice(0.001, 0.001);
  EXPECT_EQ(s.length.messages(), 1U);
  s.slice(0.001, 0.001);
  EXPECT_EQ(s.length.messages(), 64U);
  s.slice(100, 0.02);
  EXPECT_EQ(s.length.messages(), 64U) << "what was computed in short slices does not count";
}

/// Programs whose objects take turns.
class slice_test : public models {};
INSTANTIATE_TEST_SUITE_P(in_turns, slice_test,
                         testing::Values("simulated", "workers:simulated", "threads:simulated"),
                         name_of_model);

std::chrono::nanoseconds cpu_time_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// One object computes for each message, and always has messages. Another one looks in each of its turns how
// many were handled since the last one. Two slices are long, or a few more where the thread changes, so only
// what comes later counts. What is computed is CPU time, so no load makes slices look shorter.
TEST_P(slice_test, an_object_that_computes_lets_others_go_first_after_few_messages) {
  constexpr int messages = 400, first_ones = 330;
  program p(runtime);
  const auto work = p.stream<int>("work", capacity{512});
  const auto end = p.stream<int>("end", capacity{1});
  int handled = 0, most = 0;
  p.object(
       "computes",
       [&](in<int> from, out<int>) {
         while (from.receive()) {
           const auto until = cpu_time_of_thread() + 1ms;
           while (cpu_time_of_thread() < until) {
           }
           ++handled;
         }
       },
       work.in(), end.out())
      .group("g");
  p.object(
       "sends",
       [](out<int> to) {
         for (int i = 0; i < messages; ++i) to.send(i);
       },
       work.out())
      .group("g");
  p.object(
       "looks",
       [&](in<int> from) {
         for (int before = 0; !from.is_closed();) {
           static_cast<void>(from.try_receive());
           if (before >= first_ones) most = std::max(most, handled - before);
           before = handled;
         }
       },
       end.in())
      .group("g");
  p.run();
  EXPECT_EQ(handled, messages);
  EXPECT_LE(most, 16) << "of 1 ms each";
}

}  // namespace
