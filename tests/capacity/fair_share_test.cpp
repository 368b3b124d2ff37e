// SPDX-License-Identifier: Apache-2.0
// Weighted fair sharing: cases worked out by hand, and properties on random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

extern "C" {
#include "estimate/fair_share.h"
}

namespace {

std::vector<double> fill(double capacity, std::vector<cap_share> items) {
  cap_fair_share(capacity, items.data(), items.size());
  std::vector<double> result;
  for (const cap_share& item : items) result.push_back(item.share);
  return result;
}

TEST(fair_share, equal_threads_share_equally) {
  EXPECT_EQ(fill(2, {{1, 1, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}}), (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
}

TEST(fair_share, small_demands_are_met_and_the_rest_is_shared_again) {
  EXPECT_EQ(fill(2, {{1, 0.25, 0}, {1, 2, 0}, {1, 2, 0}}), (std::vector<double>{0.25, 0.875, 0.875}));
}

TEST(fair_share, shares_are_in_proportion_to_weights) {
  EXPECT_EQ(fill(2, {{4, 2, 0}, {1, 2, 0}}), (std::vector<double>{1.6, 0.4}));
}

TEST(fair_share, nothing_is_invented_when_all_are_satisfied) {
  EXPECT_EQ(fill(8, {{1, 1, 0}, {1, 2, 0}}), (std::vector<double>{1, 2}));
}

TEST(fair_share, no_capacity_no_demand_and_no_weight_give_nothing) {
  EXPECT_EQ(fill(0, {{1, 1, 0}}), (std::vector<double>{0}));
  EXPECT_EQ(fill(1, {{1, 0, 0}, {0, 1, 0}, {1, -1, 0}}), (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(fill(1, {}).empty());
}

TEST(fair_share, equal_threads_may_stand_together) {
  const std::vector<double> apart = fill(2, {{1, 1, 0}, {1, 1, 0}, {1, 1, 0}, {3, 2, 0}});
  const std::vector<double> together = fill(2, {{3, 3, 0}, {3, 2, 0}});
  EXPECT_NEAR(apart[0] + apart[1] + apart[2], together[0], 1e-12);
  EXPECT_NEAR(apart[3], together[1], 1e-12);
}

// A sharing is fair if all capacity is used or all demands are met, and no member that got less than it
// wanted has less for its weight than any other member.
TEST(fair_share, random_sharings_are_fair) {
  std::mt19937 random(20090215);
  std::uniform_real_distribution<double> weight(0.01, 5);
  std::uniform_real_distribution<double> demand(0, 3);
  for (int round = 0; round < 2000; round++) {
    std::vector<cap_share> items(1 + random() % 40);
    for (cap_share& item : items) item = {weight(random), random() % 5 == 0 ? 0 : demand(random), 0};
    const double capacity = demand(random) * 8;
    cap_fair_share(capacity, items.data(), items.size());
    double wanted = 0;
    double given = 0;
    double level = 0;
    for (const cap_share& item : items) {
      EXPECT_GE(item.share, 0);
      EXPECT_LE(item.share, item.demand + 1e-12);
      wanted += item.demand;
      given += item.share;
      level = std::max(level, item.share / item.weight);
    }
    EXPECT_NEAR(given, std::min(capacity, wanted), 1e-9);
    for (const cap_share& item : items) {
      if (item.share < item.demand - 1e-9) {
        EXPECT_GE(item.share / item.weight, level - 1e-9);
      }
    }
  }
}

TEST(fair_share, nice_weights_are_the_kernels) {
  EXPECT_EQ(cap_nice_weight(0), 1);
  EXPECT_DOUBLE_EQ(cap_nice_weight(-5), 3121 / 1024.0);
  EXPECT_DOUBLE_EQ(cap_nice_weight(19), 15 / 1024.0);
  EXPECT_EQ(cap_nice_weight(40), cap_nice_weight(19));
  EXPECT_EQ(cap_nice_weight(-40), cap_nice_weight(-20));
  for (int nice = -20; nice < 19; nice++) {
    EXPECT_NEAR(cap_nice_weight(nice) / cap_nice_weight(nice + 1), 1.25, 0.07) << nice;
  }
}

TEST(fair_share, threads_weigh_by_their_class) {
  constexpr std::uint64_t other = 0, fifo = 1, round_robin = 2, batch = 3, idle = 5, deadline = 6;
  EXPECT_EQ(cap_thread_weight(other, -5), cap_nice_weight(-5));
  EXPECT_EQ(cap_thread_weight(batch, 19), cap_nice_weight(19));
  EXPECT_EQ(cap_thread_weight(idle, -20), cap_idle_weight());
  for (const std::uint64_t policy : {fifo, round_robin, deadline})
    EXPECT_GE(cap_thread_weight(policy, 19), 10 * cap_nice_weight(-20)) << policy;
}

}  // namespace
