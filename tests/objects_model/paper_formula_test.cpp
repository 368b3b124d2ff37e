// SPDX-License-Identifier: Apache-2.0
// The paper's formula, from the paper's constants: its table 3, and the reversals between 2 and 4
// groups of table 4.
#include <gtest/gtest.h>

#include <objects/shared/paper_formula.hpp>

namespace {

using namespace sukima::objects::model;
using enum execution_model;

constexpr paper_costs one_cpu = {.process = 0.55, .thread = 0.3, .simulated = 0.0235};  // milliseconds
constexpr paper_costs two_cpus = {.process = 0.78, .thread = 0.19, .simulated = 0.0235};

TEST(paper_formula, gives_table_3) {
  // Two groups of three objects on one CPU. The paper prints 3.3 s for six threads; its formula gives
  // 3.0, and 2.96 was measured.
  const paper_counts counts = {.between = 2e3, .within = 8e3};
  const auto seconds = [&](execution_model model) {
    return paper_communication(model, one_cpu, counts, paper_divisor(1, 2)) / 1000;
  };
  EXPECT_NEAR(seconds(simulated), 0.235, 1e-9);
  EXPECT_NEAR(seconds(threads_simulated), 0.788, 1e-9);
  EXPECT_NEAR(seconds(processes_simulated), 1.288, 1e-9);
  EXPECT_NEAR(seconds(threads), 3.0, 1e-9);
  EXPECT_NEAR(seconds(processes_threads), 3.5, 1e-9);
  EXPECT_NEAR(seconds(processes), 5.5, 1e-9);
}

/// The share of messages within groups, for one between groups, at which two models on two CPUs take
/// the same time.
double crossing(execution_model one, execution_model other) {
  const auto difference = [&](double within) {
    const paper_counts counts = {.between = 1, .within = within};
    return paper_communication(one, two_cpus, counts, 2) - paper_communication(other, two_cpus, counts, 2);
  };
  return -difference(0) / (difference(1) - difference(0));
}

TEST(paper_formula, reverses_the_order_of_table_4) {
  EXPECT_NEAR(crossing(simulated, threads_simulated), 6.09, 0.005);
  EXPECT_NEAR(crossing(threads, processes_simulated), 3.31, 0.005);
  const auto faster = [](execution_model one, execution_model other, double within) {
    const paper_counts counts = {.between = 1, .within = within};
    return paper_communication(one, two_cpus, counts, 2) < paper_communication(other, two_cpus, counts, 2);
  };
  // Few messages within groups, as with 4 groups; many, as with 2.
  EXPECT_TRUE(faster(simulated, threads_simulated, 3));
  EXPECT_TRUE(faster(threads_simulated, simulated, 8));
  EXPECT_TRUE(faster(threads, processes_simulated, 3));
  EXPECT_TRUE(faster(processes_simulated, threads, 8));
}

TEST(paper_formula, divides_by_the_smaller_of_cpus_and_groups) {
  EXPECT_EQ(paper_divisor(4, 2), 2);
  EXPECT_EQ(paper_divisor(2, 4), 2);
  EXPECT_EQ(paper_divisor(0.5, 4), 1);
  const paper_counts counts = {.between = 0, .within = 1};
  EXPECT_EQ(paper_communication(simulated, two_cpus, counts, 4), 0.0235);
  EXPECT_EQ(paper_communication(threads_simulated, two_cpus, counts, 4), 0.0235 / 4);
  EXPECT_EQ(paper_communication(processes_simulated, two_cpus, counts, 4), 0.0235 / 4);
  EXPECT_EQ(paper_communication(processes_threads, two_cpus, counts, 4), 0.19);
}

}  // namespace
