// SPDX-License-Identifier: Apache-2.0
// Ranks, ties, Kendall's correlation, and what a validation makes of them.
#include <objects/scores.hpp>
#include <objects/validation.hpp>

#include <gtest/gtest.h>
#include <cmath>

namespace {

using sukima::cli::objects::kendall_tau;
using sukima::cli::objects::range_of;
using sukima::cli::objects::ranks_of;
using sukima::cli::objects::time_range;
using sukima::objects::model::execution_model;

std::vector<time_range> exact(const std::vector<double>& times) {
  std::vector<time_range> result;
  for (const double one : times) result.push_back({one, one, one});
  return result;
}

TEST(scores, a_range_is_the_median_and_the_quartiles) {
  const time_range five = range_of({50, 10, 40, 20, 30});
  EXPECT_EQ(five.low, 20);
  EXPECT_EQ(five.middle, 30);
  EXPECT_EQ(five.high, 40);
  const time_range one = range_of({7});
  EXPECT_EQ(one.low, 7);
  EXPECT_EQ(one.high, 7);
}

TEST(scores, overlapping_times_tie) {
  const std::vector<time_range> times = {{10, 11, 12}, {30, 31, 32}, {12, 13, 14}, {40, 41, 42}};
  EXPECT_EQ(ranks_of(times), (std::vector<std::size_t>{1, 3, 1, 4}));
}

double tau_of(const std::vector<time_range>& a, const std::vector<time_range>& b) {
  return kendall_tau(a, b).value_or(std::nan(""));
}

TEST(scores, kendall_compares_orders) {
  const auto one = exact({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(tau_of(one, exact({10, 20, 30, 40})), 1);
  EXPECT_DOUBLE_EQ(tau_of(one, exact({4, 3, 2, 1})), -1);
  EXPECT_DOUBLE_EQ(tau_of(one, exact({1, 3, 2, 4})), 2.0 / 3) << "five pairs of six agree";
  EXPECT_FALSE(kendall_tau(one, exact({5, 5, 5, 5})).has_value());
}

TEST(scores, kendall_counts_ties_as_tau_b) {
  // scipy.stats.kendalltau([1, 2, 2, 3], [1, 2, 3, 3]): 4 pairs agree, 5 are no ties on either side.
  EXPECT_DOUBLE_EQ(tau_of(exact({1, 2, 2, 3}), exact({1, 2, 3, 3})), 4.0 / 5);
}

TEST(scores, of_a_validation_are_those_of_both_predictions) {
  sukima::cli::objects::validation of;
  const auto add = [&of](execution_model model, double measured, double simulated, double paper) {
    sukima::cli::objects::validated_model one;
    one.how.how.model = model;
    one.how.simulated.time_ns = simulated;
    one.how.paper_ns = paper;
    one.runs_ns = {0.99 * measured, measured, 1.01 * measured};
    of.models.push_back(one);
  };
  add(execution_model::threads, 200, 90, 300);
  add(execution_model::simulated, 100, 110, 200);
  add(execution_model::threads_simulated, 300, 400, 100);
  score(of, 0);
  EXPECT_EQ(of.simulation.chosen, execution_model::threads);
  EXPECT_DOUBLE_EQ(of.simulation.chosen_over_best, 2);
  EXPECT_NEAR(of.simulation.best_error, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(of.simulation.tau.value_or(0), 1.0 / 3);
  EXPECT_EQ(of.paper.chosen, execution_model::threads_simulated);
  EXPECT_DOUBLE_EQ(of.paper.chosen_over_best, 3);
  EXPECT_NEAR(of.paper.best_error, 1, 1e-12);
  EXPECT_DOUBLE_EQ(of.paper.tau.value_or(0), -1.0 / 3);
}

TEST(scores, the_report_says_how_many_runs_there_were) {
  using namespace sukima::cli::objects;
  validation of;
  of.program = "p";
  of.cpus = 2;
  of.models.push_back(
      {.how = {}, .runs_ns = {7}, .measured = range_of({7}), .simulated = {}, .by_paper = {}});
  EXPECT_EQ(validation_report(of).find("p on 2 CPUs: one run under each model, with ranks.\n"), 0U);
  of.models.front().runs_ns = {7, 8, 9};
  EXPECT_EQ(validation_report(of).find("p on 2 CPUs: medians of 3 runs under each model, with ranks.\n"), 0U);
}

}  // namespace
