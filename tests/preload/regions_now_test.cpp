// SPDX-License-Identifier: Apache-2.0
// The gaps between parallel regions, also in the child of a fork that happens inside a region.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

extern "C" {
#include "regions_now.h"
#include "wait_judgement.h"
}

namespace {

class regions_now : public testing::Test {
 protected:
  regions_now() { regions_now_forget(); }
  ~regions_now() override { regions_now_forget(); }
};

constexpr std::uint64_t between = 1000;

/// Two regions, the first one from this moment. \return the average gap afterwards
std::uint64_t gap_of_two_regions(std::uint64_t from) {
  regions_now_end(regions_now_begin(from), from + 1);
  regions_now_end(regions_now_begin(from + 1 + between), from + 2 + between);
  return regions_now_mean_gap();
}

TEST_F(regions_now, a_gap_lasts_from_the_end_of_the_last_region_to_the_next_begin) {
  const std::uint32_t outer = regions_now_begin(1);
  const std::uint32_t another = regions_now_begin(5);
  regions_now_end(outer, 10);
  EXPECT_TRUE(regions_now_any());
  regions_now_end(regions_now_begin(15), 20);
  EXPECT_EQ(regions_now_mean_gap(), 0U) << "a region ran all the time";
  regions_now_end(another, 30);
  EXPECT_FALSE(regions_now_any());
  regions_now_begin(30 + between);
  EXPECT_EQ(regions_now_mean_gap(), wait_judgement_mean_gap(0, between));
}

TEST_F(regions_now, without_a_time_no_gap_is_measured) {
  regions_now_end(regions_now_begin(0), 0);
  regions_now_end(regions_now_begin(10), 20);
  EXPECT_EQ(regions_now_mean_gap(), 0U);
}

TEST_F(regions_now, the_child_of_a_fork_measures_gaps_though_the_parents_region_ends_there) {
  const std::uint32_t parents = regions_now_begin(1);
  const pid_t child = fork();
  if (child == 0) {
    regions_now_forget();
    const bool none = !regions_now_any();
    regions_now_end(parents, 2);
    const bool still_none = !regions_now_any();
    _exit(none && still_none && gap_of_two_regions(3) == wait_judgement_mean_gap(0, between) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(regions_now_any()) << "the parent is still in its region";
  regions_now_end(parents, 2);
}

}  // namespace
