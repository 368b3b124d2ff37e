// SPDX-License-Identifier: Apache-2.0
// Whom a worker without work asks first.
#include "support.hpp"

namespace {

using sukima::context;
using sukima::victim_policy;

/// Two workers offer forks all the time, with weights; a third one takes them.
/// \returns how many of them it took from the first one, of `wanted` in all; −1: it took too long
int taken_from_first(victim_policy policy, double weight_of_first, double weight_of_second, int wanted) {
  sukima::settings s = support::with_workers(3);
  s.victim = policy;
  s.published_tasks = 0;  // one victim is asked, and answers
  sukima::runtime three(s);
  std::atomic<int> taken[2] = {0, 0};
  std::atomic<int> running{0};
  bool in_time = true;
  const auto deadline = std::chrono::steady_clock::now() + support::patience;
  const auto offer = [&](context c, int side, double weight) {
    sukima::set_weight(weight);
    ++running;
    while (taken[0] + taken[1] < wanted && std::chrono::steady_clock::now() < deadline) {
      const auto here = std::this_thread::get_id();
      sukima::fork2(
          c, [] { std::this_thread::yield(); },
          [&] {
            // Only when both offer: before, there is no choice.
            if (running == 2 && std::this_thread::get_id() != here) ++taken[side];
          });
    }
  };
  three.run([&](context c) {
    sukima::fork2(
        c, [&](context inner) { offer(inner, 0, weight_of_first); },
        [&](context inner) { offer(inner, 1, weight_of_second); });
  });
  in_time = taken[0] + taken[1] >= wanted;
  return in_time ? taken[0].load() : -1;
}

TEST(victim, is_chosen_by_weight) {
  // All would come from the heavy one, but while that one has no CPU it does not answer, and the other one
  // is asked.
  EXPECT_GE(taken_from_first(victim_policy::weighted, 1000, 0, 200), 120);
  const int seldom = taken_from_first(victim_policy::weighted, 0, 1000, 200);
  EXPECT_LE(seldom, 80);
  EXPECT_GE(seldom, 0);
}

TEST(victim, is_anybody_where_all_weigh_nothing) {
  EXPECT_GE(taken_from_first(victim_policy::weighted, 0, -1, 30), 0);
  EXPECT_GE(taken_from_first(victim_policy::random, 1000, 0, 30), 0);
}

TEST(victim, is_the_last_one_while_it_has_more) {
  EXPECT_GE(taken_from_first(victim_policy::last, 1, 1, 100), 0);
}

TEST(victim, weight_outside_of_workers_is_nothing) {
  sukima::set_weight(3);  // must do no harm
  EXPECT_EQ(sukima::worker_id(), -1);
}

}  // namespace
