// SPDX-License-Identifier: Apache-2.0
// What the host itself used: the busy time that machines do not explain.
#include "source/host_use.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace sukima::host {
namespace {

TEST(host_use, is_what_is_left_where_a_vcpu_was_seen) {
  const std::vector<double> used = host_use({0.9, 0.3}, {{0.5, 0, {}}, {0.2, 1, {}}});
  EXPECT_NEAR(used[0], 0.4, 1e-9);
  EXPECT_NEAR(used[1], 0.1, 1e-9);
}

TEST(host_use, a_vcpu_that_was_not_seen_ran_where_there_was_busy_time_for_it) {
  const std::vector<double> used = host_use({0.6, 0.2, 0.4}, {{0.4, {}, {0, 1}}});
  EXPECT_NEAR(used[0], 0.3, 1e-9);
  EXPECT_NEAR(used[1], 0.1, 1e-9);
  EXPECT_NEAR(used[2], 0.4, 1e-9);
}

TEST(host_use, a_vcpu_that_moved_does_not_change_the_sum) {
  // It ran half of the time on each pCPU, and was seen on the first one.
  const std::vector<double> used = host_use({0.6, 0.6}, {{1.0, 0, {}}});
  EXPECT_NEAR(used[0] + used[1], 0.2, 1e-9);
}

TEST(host_use, is_never_negative_and_its_sum_is_exact) {
  std::mt19937 draw(7);
  std::uniform_real_distribution<double> part(0, 1);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t pcpus = 1 + draw() % 5;
    std::vector<double> busy(pcpus);
    for (double& one : busy) one = part(draw);
    std::vector<ran_somewhere> ran(draw() % 6);
    double sum = std::accumulate(busy.begin(), busy.end(), 0.0);
    for (ran_somewhere& one : ran) {
      one.seconds = part(draw) * 0.5;
      if (draw() % 2 == 0)
        one.last = draw() % pcpus;
      else
        for (std::size_t p = 0; p < pcpus; ++p) one.may.push_back(p);
      sum -= one.seconds;
    }
    const std::vector<double> used = host_use(busy, ran);
    double found = 0;
    for (std::size_t p = 0; p < pcpus; ++p) {
      EXPECT_GE(used[p], 0);
      EXPECT_LE(used[p], busy[p] + 1e-12);
      found += used[p];
    }
    EXPECT_NEAR(found, std::max(sum, 0.0), 1e-9);
  }
}

}  // namespace
}  // namespace sukima::host
