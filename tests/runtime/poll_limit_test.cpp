// SPDX-License-Identifier: Apache-2.0
// The poll limit: a thread that requests a poll races with the fiber's owner.
#include "choice/poll_limit.hpp"

#include "race.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using sukima::detail::all_ones;
using sukima::detail::poll_limit;
using support::jitter;
using support::race;
using support::race_rounds;

class limits : public testing::Test {
 protected:
  char* at(std::size_t i) { return &region_[i]; }
  bool is_raised() const { return word_.load() == all_ones; }

  std::array<char, 64> region_{};
  sukima::detail::atomic<char*> word_{nullptr};
  poll_limit limit_{word_};
};

/// The owner's slow path against a request, as in `poll_slow`.
TEST_F(limits, a_request_is_seen_or_the_next_poll_is_slow) {
  std::atomic<bool> wanted{false};
  bool was_seen = false;
  unsigned seen = 0;
  race(
      4, 4 * race_rounds,
      [&] {
        word_.store(all_ones);
        wanted.store(false);
      },
      {[&](jitter&) {
         wanted.store(true);
         limit_.request_poll();
       },
       [&](jitter&) {
         limit_.publish_limit(at(8));
         was_seen = wanted.load();
       }},
      [&] {
        ASSERT_TRUE(was_seen || is_raised());
        seen += was_seen ? 1 : 0;
      });
  RecordProperty("seen", static_cast<int>(seen));
}

TEST_F(limits, a_request_outlasts_a_limit_that_is_restored_or_lowered) {
  bool lowers = false;
  race(
      5, 2 * race_rounds,
      [&] {
        word_.store(at(8));
        lowers = !lowers;
      },
      {[&](jitter&) { limit_.request_poll(); },
       [&](jitter&) {
         if (lowers)
           limit_.lower_limit(at(4));
         else
           limit_.restore_limit(at(16));
       }},
      [&] { ASSERT_TRUE(is_raised()); });
}

TEST_F(limits, a_standing_request_outlasts_a_limit_that_is_restored_and_requested_again) {
  race(
      6, race_rounds, [&] { word_.store(all_ones); },
      {[&](jitter&) { limit_.request_poll(); }, [&](jitter&) { limit_.restore_limit(at(16)); }},
      [&] { ASSERT_TRUE(is_raised()); });
}

TEST_F(limits, the_owner_reads_the_limit_that_it_wrote) {
  limit_.publish_limit(at(8));
  EXPECT_TRUE(limit_.covers(at(8)));
  EXPECT_FALSE(limit_.covers(at(9)));
  limit_.lower_limit(at(4));
  EXPECT_FALSE(limit_.covers(at(8)));
  limit_.begin_limit(at(16));
  EXPECT_EQ(word_.load(), at(16));
  limit_.request_poll();
  EXPECT_TRUE(limit_.covers(at(63)));
  limit_.begin_limit(at(16));
  EXPECT_EQ(word_.load(), at(16));
}

TEST_F(limits, the_shared_limit_of_small_fibers_is_always_raised) {
  const poll_limit shared;
  shared.request_poll();
  shared.publish_limit(at(1));
  shared.begin_limit(at(2));
  shared.restore_limit(at(3));
  shared.lower_limit(at(4));
  EXPECT_TRUE(shared.covers(at(63)));
}

}  // namespace
