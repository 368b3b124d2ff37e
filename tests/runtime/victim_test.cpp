// SPDX-License-Identifier: Apache-2.0
// The victim that an idle worker asks first.
#include "steal/weighted_draw.hpp"
#include "support.hpp"

#include <array>
#include <random>

namespace {

/// How many of 1000 draws fall to each of the weights, and to none.
template <std::size_t N> std::array<int, N + 1> draws(const std::array<double, N>& weights) {
  std::mt19937 random(1);
  std::array<int, N + 1> fallen{};
  for (int i = 0; i < 1000; ++i)
    ++fallen[sukima::detail::weighted_draw(
        N, [&](unsigned k) { return weights[k]; }, static_cast<double>(random()) * 0x1p-32)];
  return fallen;
}

TEST(weighted_draw, falls_to_each_in_proportion_to_its_weight) {
  EXPECT_EQ(draws<2>({1000, 0}), (std::array{1000, 0, 0}));
  EXPECT_EQ(draws<2>({0, 0.001}), (std::array{0, 1000, 0}));
  const auto shares = draws<3>({1, 2, 7});
  EXPECT_NEAR(shares[0], 100, 30);
  EXPECT_NEAR(shares[1], 200, 40);
  EXPECT_NEAR(shares[2], 700, 45);
  EXPECT_EQ(shares[3], 0);
}

TEST(weighted_draw, returns_none_if_all_weights_are_zero) {
  EXPECT_EQ(draws<2>({0, 0}), (std::array{0, 0, 1000}));
  EXPECT_EQ(sukima::detail::weighted_draw(0, [](unsigned) { return 1.0; }, 0.5), 0U);
}

TEST(weighted_draw, returns_none_if_weights_shrink_during_the_draw) {
  int asked = 0;
  const auto shrinking = [&](unsigned) { return asked++ < 2 ? 10.0 : 1.0; };
  EXPECT_EQ(sukima::detail::weighted_draw(2, shrinking, 0.9), 2U);
}

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
  const auto deadline = std::chrono::steady_clock::now() + support::patience;
  const auto offer = [&](context c, int side, double weight) {
    sukima::set_weight(weight);
    ++running;
    while (taken[0] + taken[1] < wanted && std::chrono::steady_clock::now() < deadline) {
      const auto here = std::this_thread::get_id();
      sukima::fork2(
          c, [] { std::this_thread::yield(); },
          [&] {
            // Count only while both offer forks: before that, the thief has one victim only.
            if (running == 2 && std::this_thread::get_id() != here) ++taken[side];
          });
    }
  };
  three.run([&](context c) {
    sukima::fork2(
        c, [&](context inner) { offer(inner, 0, weight_of_first); },
        [&](context inner) { offer(inner, 1, weight_of_second); });
  });
  return taken[0] + taken[1] >= wanted ? taken[0].load() : -1;
}

TEST(victim, with_a_weight_is_not_the_only_one) {
  // While the heavy one has no CPU it does not answer, and the other one is asked.
  EXPECT_GE(taken_from_first(victim_policy::weighted, 1000, 0, 100), 0);
  EXPECT_GE(taken_from_first(victim_policy::weighted, 0, 1000, 100), 0);
}

TEST(victim, is_any_worker_where_all_weigh_nothing) {
  EXPECT_GE(taken_from_first(victim_policy::weighted, 0, -1, 30), 0);
  EXPECT_GE(taken_from_first(victim_policy::random, 1000, 0, 30), 0);
}

TEST(victim, is_the_last_one_while_it_has_more) {
  EXPECT_GE(taken_from_first(victim_policy::last, 1, 1, 100), 0);
}

TEST(victim, weight_set_outside_workers_is_ignored) {
  sukima::set_weight(3);  // must do no harm
  EXPECT_EQ(sukima::worker_id(), -1);
}

}  // namespace
