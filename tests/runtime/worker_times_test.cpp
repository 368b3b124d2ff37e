// SPDX-License-Identifier: Apache-2.0
// Samples of a worker's times, and threads whose numbers come again.
#include "control/worker_times.hpp"

#include <gtest/gtest.h>

namespace {

using sukima::detail::between;
using sukima::detail::worker_times;

TEST(worker_times, are_those_of_one_thread) {
  const auto found = between({7, {100, 50, 3}, 0}, {7, {130, 55, 4}, 0});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ran_ns, 30U);
  EXPECT_EQ(found->waited_ns, 5U);
  EXPECT_FALSE(between({7, {100, 50, 3}, 0}, {8, {130, 55, 4}, 0}));
  EXPECT_FALSE(between({0, {}, 0}, {0, {}, 0})) << "the thread is unknown";
}

TEST(worker_times, of_a_later_thread_with_the_same_number_are_not_compared) {
  EXPECT_FALSE(between({7, {100, 50, 3}, 0}, {7, {20, 60, 1}, 0}));
  EXPECT_FALSE(between({7, {100, 50, 3}, 0}, {7, {120, 10, 1}, 0}));
}

}  // namespace
