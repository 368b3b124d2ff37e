// SPDX-License-Identifier: Apache-2.0
// How many workers are enough, decided from estimates that err.
#include "control/enough_workers.hpp"

#include "support.hpp"

#include <random>

namespace {

using sukima::detail::enough_workers;

constexpr double a_fifth = 0.2;  ///< of a second: the interval between estimates

/// Estimates of `seconds`, each of which errs by up to `error` of its value; the last answer.
unsigned judge(enough_workers& enough, double seconds, const std::vector<double>& gets, double error = 0,
               bool certain = true) {
  static std::mt19937 random(1);
  std::uniform_real_distribution<double> factor(1 - error, 1 + error);
  unsigned answer = 0;
  for (double passed = 0; passed < seconds; passed += a_fifth) {
    std::vector<double> seen = gets;
    for (double& one : seen) one *= factor(random);
    answer = enough.judge(a_fifth, seen, certain);
  }
  return answer;
}

TEST(enough_workers, as_many_as_may_run_until_a_second_has_passed) {
  enough_workers enough;
  EXPECT_EQ(judge(enough, 0.7, {1.0, 1.0, 1.0}), 3U);
  EXPECT_EQ(judge(enough, 1.0, {1.0, 1.0, 1.0}), 1U);
}

TEST(enough_workers, the_fewest_that_get_nearly_all) {
  enough_workers enough;
  EXPECT_EQ(judge(enough, 2, {0.9, 1.7, 2.4, 2.5}), 3U);
  EXPECT_EQ(judge(enough, 2, {0.9, 1.7, 2.4, 3.0}), 4U);
}

TEST(enough_workers, estimates_may_err) {
  for (int i = 0; i < 100; ++i) {
    enough_workers enough;
    EXPECT_EQ(judge(enough, 2, {1.0, 1.0}, 0.05), 1U);
    enough_workers too_few;
    EXPECT_EQ(judge(too_few, 2, {0.85, 1.0}, 0.05), 2U);
  }
}

TEST(enough_workers, a_choice_is_kept_while_it_loses_little) {
  enough_workers enough;
  ASSERT_EQ(judge(enough, 2, {1.0, 1.0}), 1U);
  EXPECT_EQ(judge(enough, 3, {0.93, 1.0}), 1U);
  EXPECT_EQ(judge(enough, 3, {0.85, 1.0}), 2U);
  EXPECT_EQ(judge(enough, 3, {0.93, 1.0}), 2U);
}

TEST(enough_workers, cpu_that_is_plainly_there_is_taken_at_once) {
  enough_workers enough;
  ASSERT_EQ(judge(enough, 2, {1.0, 1.0}), 1U);
  EXPECT_EQ(judge(enough, a_fifth, {1.0, 1.9}), 2U);
}

TEST(enough_workers, guesses_are_no_reason_for_fewer) {
  enough_workers enough;
  EXPECT_EQ(judge(enough, 5, {1.0, 1.0}, 0, false), 2U);
  ASSERT_EQ(judge(enough, 2, {1.0, 1.0}), 1U);
  EXPECT_EQ(judge(enough, 5, {1.0, 1.0}, 0, false), 2U);
}

TEST(enough_workers, another_limit_is_followed_at_once) {
  enough_workers enough;
  ASSERT_EQ(judge(enough, 2, {0.9, 1.7, 2.4, 3.0}), 4U);
  EXPECT_EQ(judge(enough, a_fifth, {0.9, 1.7}), 2U);
  EXPECT_EQ(judge(enough, 2, {0.9, 1.7, 2.4, 3.0}), 4U);
}

}  // namespace
