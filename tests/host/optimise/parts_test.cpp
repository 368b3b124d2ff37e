// SPDX-License-Identifier: Apache-2.0
// Statistics, comparisons, candidates and sweeps, each by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "optimise/candidates.hpp"
#include "optimise/change_cost.hpp"
#include "optimise/comparison.hpp"
#include "optimise/statistics.hpp"
#include "shared/sweep.hpp"

namespace {

using namespace sukima::host;
using enum comparison_outcome;

TEST(statistics, of_few_numbers) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(robust_mean({1, 2, 3, 100}), 2.5);
  EXPECT_DOUBLE_EQ(robust_mean({1, 2, 4, 3, -100}), 2) << "without the extremes";
  EXPECT_DOUBLE_EQ(deviation({5}), 0);
  EXPECT_DOUBLE_EQ(deviation({1, 2, 3}), 1);
  EXPECT_DOUBLE_EQ(noise_of({1, 1, 1}), 0.01) << "the least";
  EXPECT_DOUBLE_EQ(noise_of({0, 0.1, 0, 0.1, 5}), 0.106) << "one burst does not matter";
}

/// Feeds windows at both counts, `ratios` in turn; the outcome and the pairs that it took.
std::pair<std::optional<comparison_outcome>, unsigned> compare(
    const std::vector<double>& ratios, double noise = 0.01, constants::criterion by = constants::with_cause) {
  comparison trial(4, 5, by, noise);
  for (const double ratio : ratios) {
    std::optional<comparison_outcome> outcome;
    for (int i = 0; i < 2; i++) outcome = trial.add(trial.next() == 5 ? ratio : 0);
    if (outcome) return {outcome, trial.pairs()};
  }
  return {std::nullopt, trial.pairs()};
}

TEST(comparison, decides_by_the_mean_and_its_error) {
  EXPECT_EQ(compare({0.1, 0.1}), std::pair(std::optional(better), 2U));
  EXPECT_EQ(compare({-0.1, -0.1}), std::pair(std::optional(worse), 2U));
  EXPECT_EQ(compare({0, 0}), std::pair(std::optional(same), 2U));
  EXPECT_EQ(compare({0.02, 0.02}), std::pair(std::optional(same), 2U)) << "less than the effect, and sure";
  EXPECT_EQ(compare({0.1}), std::pair(std::optional<comparison_outcome>(), 1U)) << "one pair is none";
  EXPECT_EQ(compare({0.1, 0.1}, 0.1).first, std::nullopt) << "the noise may explain it";
  EXPECT_EQ(compare({0.3, -0.1}).first, std::nullopt) << "the pairs differ too much";
}

TEST(comparison, ends_at_once_where_the_first_pair_is_far_worse) {
  EXPECT_EQ(compare({-0.31}), std::pair(std::optional(worse), 1U));
  EXPECT_EQ(compare({-0.31}, 0.05).first, std::nullopt) << "the noise is taken off";
  EXPECT_EQ(compare({0, -0.5}).first, std::nullopt) << "only the first";
}

TEST(comparison, ends_after_twelve_pairs) {
  std::vector<double> ratios;
  for (int i = 0; i < 20; i++) ratios.push_back(i % 2 == 0 ? 0.2 : -0.1);
  EXPECT_EQ(compare(ratios, 0.1), std::pair(std::optional(same), 12U));
}

TEST(comparison, is_not_decided_by_one_burst) {
  EXPECT_EQ(compare({0.1, 0.1, 0.1, 0.1, 0.1, -0.6}, 0.05).first, better);
}

TEST(comparison, cancels_drift) {
  comparison trial(4, 5, constants::with_cause, 0.01);
  double level = 0;
  std::optional<comparison_outcome> outcome;
  while (!outcome) outcome = trial.add(level += 0.1);  // both counts alike, 10 % faster each window
  EXPECT_EQ(*outcome, same);
  EXPECT_EQ(trial.pairs() % 2, 0U) << "rising and falling pairs cancel in pairs";
}

TEST(comparison, wants_more_without_a_cause) {
  EXPECT_EQ(compare({0.04, 0.04}).first, better);
  EXPECT_EQ(compare({0.04, 0.04}, 0.01, constants::at_rest).first, same);
}

TEST(comparison, stays_for_some_windows_at_a_count) {
  comparison trial(4, 5, constants::with_cause, 0.01, 3);
  std::vector<unsigned> order;
  std::optional<comparison_outcome> outcome;
  while (!outcome) {
    order.push_back(trial.next());
    outcome = trial.add(trial.next() == 5 ? 0.1 : 0);
  }
  EXPECT_EQ(order, (std::vector<unsigned>{4, 4, 4, 5, 5, 5, 5, 5, 5, 4, 4, 4}));
  EXPECT_EQ(*outcome, better);
  EXPECT_EQ(trial.pairs(), 2U);
}

TEST(comparison, leaves_a_far_worse_count_in_the_middle_of_its_first_visit) {
  comparison trial(4, 5, constants::with_cause, 0.01, 3);
  for (int i = 0; i < 3; i++) EXPECT_EQ(trial.add(0), std::nullopt);
  EXPECT_EQ(trial.add(-0.5), worse);
}

TEST(comparison, of_visits_is_not_decided_by_one_burst) {
  comparison trial(4, 5, constants::with_cause, 0.05, 3);
  std::optional<comparison_outcome> outcome;
  for (int i = 0; !outcome; i++) outcome = trial.add(i == 4 ? -0.2 : trial.next() == 5 ? 0.1 : 0);
  EXPECT_EQ(*outcome, better);
}

/// Windows of a program that a change of the count stops.
class changes_of_count : public testing::Test {
 protected:
  change_cost cost;
  double at = 0;

  void see(unsigned count, double seconds, double rate, bool settled = true, bool valid = true) {
    cost.update({.at = at += seconds,
                 .count = count,
                 .use = 1,
                 .progress = rate,
                 .valid = valid,
                 .settled = settled});
  }
  /// Half a second of settling, of which so much is lost; then a window.
  void change(unsigned count, double lost, double rate = 10) {
    see(count, 0.5, rate * (1 - lost / 0.5), false);
    see(count, 1, rate);
  }
};

TEST_F(changes_of_count, cost_what_the_windows_after_them_lack) {
  see(4, 1, 10);
  for (const unsigned count : {5U, 4U, 5U}) {
    EXPECT_EQ(cost.seconds(), 0) << "one or two are not enough";
    change(count, 0.25, count == 5 ? 20 : 10);
  }
  EXPECT_NEAR(cost.seconds(), 0.25, 1e-9);
  EXPECT_EQ(cost.changes(), 3U);
  for (int i = 0; i < 10; i++) see(5, 1, 3);  // without a change nothing is learnt
  EXPECT_NEAR(cost.seconds(), 0.25, 1e-9);
  for (unsigned i = 0; i < 20; i++) change(4 + i % 2, 0.4);
  EXPECT_NEAR(cost.seconds(), 0.4, 1e-9) << "the last ones count";
}

TEST_F(changes_of_count, may_show_themselves_in_several_windows) {
  see(4, 1, 10);
  for (const unsigned count : {5U, 4U, 5U, 4U}) {
    see(count, 1, 2, false);
    see(count, 1, 9, false);
    see(count, 1, 10);
  }
  EXPECT_NEAR(cost.seconds(), 0.9, 1e-9);
}

TEST_F(changes_of_count, that_cannot_be_measured_only_count) {
  see(4, 1, 10);
  for (unsigned i = 0; i < 6; i++) {
    const unsigned count = 4 + i % 2;
    if (i % 3 == 0) see(count, 0.5, 1, false, false);
    if (i % 3 == 1) see(count, 0.5, 1, false);
    if (i % 3 == 1) see(count, 1, 10, true, false);
    see(count, 1, 10);
  }
  EXPECT_EQ(cost.changes(), 5U);
  EXPECT_EQ(cost.seconds(), 0);
}

TEST_F(changes_of_count, cost_nothing_where_noise_and_bursts_are_all) {
  see(4, 1, 10);
  for (unsigned i = 0; i < 16; i++) change(4 + i % 2, i == 7 ? -0.5 : i % 4 < 2 ? 0.05 : -0.05);
  EXPECT_LE(cost.seconds(), 0.005);
}

/// The counts tried where `best` is the better the nearer.
std::vector<unsigned> tried(unsigned from, unsigned estimate, unsigned highest, auto&& speed) {
  candidates search(from, estimate, highest);
  std::vector<unsigned> all;
  while (const auto count = search.next()) {
    EXPECT_GE(*count, 1U);
    EXPECT_LE(*count, highest);
    all.push_back(*count);
    search.judged(speed(*count) > speed(search.best()));
  }
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size()) << "each once";
  return all;
}

using tried_counts = std::vector<unsigned>;

TEST(candidates, neighbours_and_over_a_dent) {
  EXPECT_EQ(tried(4, 4, 16, [](unsigned n) { return n == 4; }), (tried_counts{5, 6, 3, 2}));
}

TEST(candidates, the_estimate_first) {
  EXPECT_EQ(tried(4, 9, 16, [](unsigned n) { return n == 4; }), (tried_counts{9, 5, 6, 3, 2}));
}

TEST(candidates, steps_double_while_it_gets_better) {
  const auto found = tried(2, 2, 16, [](unsigned n) { return n; });
  EXPECT_EQ((tried_counts{found.begin(), found.begin() + 5}), (tried_counts{3, 5, 9, 13, 12}));
}

TEST(candidates, find_a_best_count_behind_a_dent) {
  candidates search(5, 5, 16);
  const auto speed = [](unsigned n) { return n == 7 ? 3 : n % 2 == 1 ? 2 : 1; };
  while (const auto count = search.next()) search.judged(speed(*count) > speed(search.best()));
  EXPECT_EQ(search.best(), 7U);
}

TEST(candidates, find_every_single_peak) {
  for (unsigned start = 1; start <= 16; start++) {
    for (unsigned peak = 1; peak <= 16; peak++) {
      candidates search(start, start, 16);
      const auto speed = [&](unsigned n) { return -std::abs(static_cast<int>(n) - static_cast<int>(peak)); };
      while (const auto count = search.next()) search.judged(speed(*count) > speed(search.best()));
      EXPECT_EQ(search.best(), peak) << "from " << start;
    }
  }
}

TEST(candidates, nothing_where_only_one_count_is_allowed) {
  EXPECT_EQ(tried(1, 1, 1, [](unsigned n) { return n; }), tried_counts{});
  EXPECT_EQ(tried(6, 2, 2, [](unsigned n) { return 7 - n; }), (tried_counts{2, 1})) << "from above the bound";
}

sweep::result swept(const std::vector<double>& use, double noise = 0) {
  sweep curve(4, 4 + static_cast<unsigned>(use.size()) - 1, 0.03);
  double sign = 1;
  unsigned windows = 0;
  for (bool ended = false; !ended; windows++) {
    sign = (windows * 7 % 3 == 0) ? -sign : sign;
    ended = curve.add(std::log(use[curve.next() - 4]) + sign * noise);
  }
  EXPECT_GE(curve.rounds(), 4U);
  EXPECT_LE(curve.rounds(), 12U);
  EXPECT_EQ(windows, curve.rounds() * use.size());
  return curve.shape();
}

TEST(sweep, the_shapes_of_the_paper) {
  const auto expect = [](const std::vector<double>& use, unsigned shape, unsigned count) {
    const sweep::result found = swept(use);
    EXPECT_EQ(found.shape, shape);
    EXPECT_EQ(found.count, count);
  };
  expect({4, 4, 4, 4, 4}, 1, 4);
  expect({4, 3.9, 3.8, 3.9, 4}, 1, 4);
  expect({3, 3.4, 3.8, 4, 4, 4}, 2, 7);
  expect({4, 4, 4, 4, 4, 4, 4.9, 5.4, 5.4}, 2, 11);  // a rise of less than half of the counts
  expect({4, 3.5, 3, 2.6, 2.7, 2.8}, 3, 7);
  expect({4, 3, 4, 3, 4, 3}, 4, 4);
  expect({4}, 1, 4);
}

TEST(sweep, goes_on_while_it_is_noisy) {
  sweep quiet(4, 8, 0.03), noisy(4, 8, 0.03);
  unsigned windows = 0;
  while (!quiet.add(0)) windows++;
  EXPECT_EQ(quiet.rounds(), 6U);
  for (bool ended = false; !ended; windows++) ended = noisy.add(windows % 2 == 0 ? 0.2 : -0.2);
  EXPECT_EQ(noisy.rounds(), 12U);
}

/// A sweep of a curve whose windows have 5 % noise, and of which these windows have a burst.
sweep::result swept_with_bursts(const std::vector<double>& use, const std::vector<unsigned>& bursts) {
  sweep curve(4, 3 + static_cast<unsigned>(use.size()), 0.03);
  for (unsigned window = 0;; window++) {
    const bool burst = std::ranges::find(bursts, window) != bursts.end();
    const double noise = window % 3 == 0 ? 0.05 : window % 3 == 1 ? -0.05 : 0;
    if (curve.add(std::log(use[curve.next() - 4]) + (burst ? -0.69 : noise))) break;
  }
  return curve.shape();
}

TEST(sweep, one_burst_does_not_hide_a_step) {
  // 12.6 % from the fourth to the last count. The burst alone makes the noise of its count ten times larger.
  const sweep::result found = swept_with_bursts({4, 3.65, 3.3, 2.95, 2.6}, {17});
  EXPECT_EQ(found.shape, 3U);
  EXPECT_EQ(found.count, 8U);
}

TEST(sweep, two_bursts_at_a_count_are_not_a_drop) {
  // Windows 12 and 17 are those of the third count in the third and fourth round.
  EXPECT_EQ(swept_with_bursts({4, 4, 4, 4, 4}, {12, 17}).shape, 1U);
}

TEST(sweep, a_rise_ends_before_the_first_level_count) {
  // The last count is 3 % above its neighbours by chance.
  const sweep::result found = swept_with_bursts({3, 3.4, 3.8, 4, 4, 4, 4.13}, {});
  EXPECT_EQ(found.shape, 2U);
  EXPECT_EQ(found.count, 7U);
}

TEST(sweep, stays_for_some_windows_at_a_count) {
  sweep curve(4, 5, 0.03, 3);
  std::vector<unsigned> order;
  for (bool ended = false; !ended;) {
    order.push_back(curve.next());
    ended = curve.add(0);
  }
  EXPECT_EQ((std::vector<unsigned>{order.begin(), order.begin() + 12}),
            (std::vector<unsigned>{5, 5, 5, 4, 4, 4, 4, 4, 4, 5, 5, 5}));
  EXPECT_EQ(curve.rounds(), 4U);
}

TEST(sweep, goes_down_and_up_in_turn) {
  sweep curve(4, 6, 0.03);
  std::vector<unsigned> order;
  for (int i = 0; i < 6; i++) {
    order.push_back(curve.next());
    curve.add(0);
  }
  EXPECT_EQ(order, (std::vector<unsigned>{6, 5, 4, 4, 5, 6}));
}

}  // namespace
