// SPDX-License-Identifier: Apache-2.0
// The steal protocol `indolent`: tasks are made only for a thief that asks, and victims are asked rarely.
#include "constants.hpp"
#include "support.hpp"

#include <sukima/detail/ticks.hpp>

#include <atomic>

namespace {

using sukima::context;

sukima::settings indolent(unsigned workers, unsigned interval_us) {
  sukima::settings s = support::with_workers(workers);
  s.published_tasks = 0;
  s.request_interval_us = interval_us;
  return s;
}

/// Forks until so many forks have become tasks, which have no forks themselves. False: it took too long.
bool fork_until_promoted(sukima::runtime& runtime, std::uint64_t wanted) {
  bool done = false;
  runtime.run([&](context c) {
    done = support::poll_until(c, [&] { return runtime.statistics().promotions >= wanted; });
  });
  return done;
}

/// Only a lower bound of the time: a busy machine makes it longer. In ticks, because an interrupt may have
/// spoilt the runtime's measurement of their length.
TEST(indolent, worker_makes_a_task_once_in_an_interval) {
  constexpr std::uint64_t tasks = 12;
  constexpr unsigned interval_us = 10'000;
  sukima::runtime two(indolent(2, interval_us));
  const std::uint64_t begun = sukima::detail::ticks();
  ASSERT_TRUE(fork_until_promoted(two, tasks));
  const std::uint64_t took = sukima::detail::ticks() - begun;
  EXPECT_GE(took, (tasks - 2) * sukima::detail::in_ticks(std::uint64_t{1000} * interval_us,
                                                         sukima::detail::ticks_per_nanosecond()));
}

TEST(indolent, worker_makes_tasks_only_for_thieves) {
  sukima::runtime two(indolent(2, 50));
  ASSERT_TRUE(fork_until_promoted(two, 100));
  const sukima::statistics all = two.statistics();
  EXPECT_EQ(all.promotions, all.steals) << all.text();
  EXPECT_EQ(all.reclaims, 0u) << "nothing is published";
}

/// A worker that may not ask any victim yet sleeps, and looks again in time although no thread wakes it.
TEST(indolent, thieves_come_back_when_they_may_ask) {
  const support::must_end within("forks that wait for thieves");
  for (const sukima::wait_policy wait :
       {sukima::wait_policy::adaptive, sukima::wait_policy::block, sukima::wait_policy::condvar}) {
    sukima::settings s = indolent(3, 2'000);
    s.wait = wait;
    sukima::runtime three(s);
    for (int round = 0; round < 5; ++round) {
      three.run([](context c) {
        std::atomic<bool> taken{false};
        sukima::fork2(
            c, [&](context below) { EXPECT_TRUE(support::poll_until(below, [&] { return taken.load(); })); },
            [&] { taken = true; });
      });
    }
  }
}

}  // namespace
