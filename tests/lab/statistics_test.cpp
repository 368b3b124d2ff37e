// SPDX-License-Identifier: Apache-2.0
// Quantiles, bootstrap intervals and rounding.
#include <lab/shared/statistics.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace sukima::lab {
namespace {

TEST(quantile, interpolates_between_order_statistics) {
  // The values that R's quantile(c(1, 2, 4, 8)) and numpy.quantile give.
  const quartiles q = quartiles_of({8, 1, 4, 2});
  EXPECT_DOUBLE_EQ(q.q1, 1.75);
  EXPECT_DOUBLE_EQ(q.median, 3);
  EXPECT_DOUBLE_EQ(q.q3, 5);
}

TEST(quantile, of_one_value_is_that_value) {
  const quartiles q = quartiles_of({0.25});
  EXPECT_DOUBLE_EQ(q.q1, 0.25);
  EXPECT_DOUBLE_EQ(q.median, 0.25);
  EXPECT_DOUBLE_EQ(q.q3, 0.25);
}

TEST(quantile, has_the_extremes_at_its_ends) {
  const std::vector<double> sorted{1, 2, 3, 10};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 10);
}

TEST(median, of_an_odd_number_is_the_middle_one) { EXPECT_DOUBLE_EQ(median_of({5, 100, 1}), 5); }

TEST(bootstrap, of_equal_values_has_no_width) {
  const auto interval = bootstrap_median(std::vector<double>(7, 1.5));
  EXPECT_DOUBLE_EQ(interval.low, 1.5);
  EXPECT_DOUBLE_EQ(interval.estimate, 1.5);
  EXPECT_DOUBLE_EQ(interval.high, 1.5);
}

TEST(bootstrap, gives_the_same_interval_for_the_same_sample) {
  const std::vector<double> sample{1.0, 1.1, 0.9, 1.05, 2.0, 0.95};
  const auto first = bootstrap_median(sample);
  const auto second = bootstrap_median(sample);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

// The percentile interval of a median covers the true one about 95 times in 100; far fewer or always would
// show a wrong resampling. 200 samples: three standard deviations are 4.6 %.
TEST(bootstrap, covers_the_true_median_about_as_often_as_it_says) {
  std::mt19937_64 generator(7);
  std::lognormal_distribution<double> noise(0, 0.3);
  int covered = 0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> sample(25);
    for (double& value : sample) value = noise(generator);
    const auto interval = bootstrap_median(sample, static_cast<std::uint64_t>(trial) + 1);
    EXPECT_LE(interval.low, interval.estimate);
    EXPECT_LE(interval.estimate, interval.high);
    if (interval.low <= 1 && 1 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, 0.90 * trials);
  EXPECT_LT(covered, trials);
}

TEST(round_significant, keeps_that_many_digits) {
  EXPECT_DOUBLE_EQ(round_significant(0.123456789, 6), 0.123457);
  EXPECT_DOUBLE_EQ(round_significant(123456789.0, 6), 123457000.0);
  EXPECT_DOUBLE_EQ(round_significant(-1.5e-9, 2), -1.5e-9);
  EXPECT_EQ(round_significant(0, 6), 0);
  EXPECT_EQ(round_significant(0.1, 6), 0.1);
  EXPECT_DOUBLE_EQ(round_significant(1.23456789e-303, 6), 1.23457e-303);
  EXPECT_DOUBLE_EQ(round_significant(-1.23456789e-307, 6), -1.23457e-307);
  EXPECT_EQ(round_significant(5e-324, 6), 5e-324);
  EXPECT_DOUBLE_EQ(round_significant(1.23456789e307, 6), 1.23457e307);
}

}  // namespace
}  // namespace sukima::lab

namespace sukima::lab {
namespace {

TEST(ratio, of_medians_has_an_interval_that_the_seed_fixes) {
  const std::vector<double> left{2, 2.1, 1.9, 2, 2.2};
  const std::vector<double> right{1, 1.1, 0.9, 1, 1};
  const auto first = bootstrap_ratio({{left}}, {{right}}), again = bootstrap_ratio({{left}}, {{right}});
  ASSERT_TRUE(first && again);
  EXPECT_DOUBLE_EQ(first->estimate, 2);
  EXPECT_GT(first->low, 1.6);
  EXPECT_LT(first->high, 2.5);
  EXPECT_LT(first->low, first->high);
  EXPECT_EQ(first->low, again->low);
  EXPECT_EQ(first->high, again->high);
}

TEST(ratio, pairs_the_rounds) {
  // The machine is ten times slower in some rounds; both sides are, so their ratio is the same in every
  // resample in which the rounds are drawn together.
  const std::vector<double> left{2, 20, 2, 20, 2}, right{1, 10, 1, 10, 1};
  const auto ratio = bootstrap_ratio({{left}}, {{right}});
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->low, 2);
  EXPECT_DOUBLE_EQ(ratio->high, 2);
}

TEST(ratio, takes_the_smallest_or_largest_median_of_the_right_side) {
  const std::vector<double> left(5, 6.0);
  const std::vector<std::vector<double>> right{std::vector<double>(5, 2.0), std::vector<double>(5, 3.0)};
  EXPECT_DOUBLE_EQ(bootstrap_ratio({{left}}, {right, false})->estimate, 3);
  EXPECT_DOUBLE_EQ(bootstrap_ratio({{left}}, {right, true})->estimate, 2);
}

TEST(ratio, of_infinite_times_is_infinite_or_undefined) {
  const std::vector<double> never(5, std::numeric_limits<double>::infinity()), one(5, 1.0);
  EXPECT_EQ(bootstrap_ratio({{never}}, {{one}})->low, std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(bootstrap_ratio({{one}}, {{never}})->high, 0);
  EXPECT_FALSE(bootstrap_ratio({{never}}, {{never}}));
}

TEST(quantile, of_infinite_values_is_never_undefined) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(median_of({1, infinite, infinite}), infinite);
  EXPECT_EQ(median_of({1, 1, infinite}), 1);
  EXPECT_EQ(median_of({infinite, infinite}), infinite);
  EXPECT_EQ(median_of({1, infinite}), infinite);
}

}  // namespace
}  // namespace sukima::lab
