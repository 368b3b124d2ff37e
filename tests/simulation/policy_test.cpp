// SPDX-License-Identifier: Apache-2.0
// Tests of the comparison of wait policies: its cells, and how far the default is from the best policy.
#include "policy_comparison.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using namespace sukima::simulation;

TEST(policies, the_default_is_compared_with_the_best) {
  EXPECT_EQ(compared_policies.front(), "adaptive");
  EXPECT_EQ(behind_best({3, 2, 4}), 1.5);
  EXPECT_EQ(behind_best({2, 3, 4}), 1);
}

TEST(policies, are_compared_in_different_cells) {
  std::set<std::string> names;
  for (const policy_cell& c : policy_cells()) EXPECT_TRUE(names.insert(c.name).second) << c.name;
  EXPECT_GT(names.size(), 30u);
}

TEST(policies, have_a_time_each) {
  policy_cell c = policy_cells().front();
  c.shape.search.rounds = 1;
  const std::vector<double> times = times_of(c);
  ASSERT_EQ(times.size(), compared_policies.size());
  for (const double time : times) EXPECT_GT(time, 0);
}

}  // namespace
