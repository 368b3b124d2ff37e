// SPDX-License-Identifier: Apache-2.0
// The guard of the neighbours.
#include <gtest/gtest.h>

#include <cmath>

#include "optimise/neighbour_guard.hpp"
#include "programs.hpp"

namespace {

using sukima::host::neighbour_guard;
using synthetic::draws;

constexpr unsigned resting = 4, other = 5;

/// A trial of so many pairs during which the share at the other count is this part of what it was; the pair
/// in which the guard fired, or 0.
unsigned fired_in(double part, double noise, unsigned neighbours, draws& from, unsigned pairs = 12) {
  neighbour_guard guard;
  const auto share = [&](double of) { return of * std::exp(from.normal(noise)); };
  for (unsigned window = 0; window < 20; window++)
    for (unsigned n = 0; n < neighbours; n++) guard.resting(n, share(0.97));
  for (unsigned pair = 1; pair <= pairs; pair++) {
    bool fired = false;
    for (unsigned n = 0; n < neighbours; n++) {
      fired |= guard.trial(n, resting, true, share(0.97));
      fired |= guard.trial(n, other, false, share(n == 0 ? 0.97 * part : 0.97));
    }
    if (fired) return pair;
  }
  return 0;
}

TEST(guard, sees_a_plain_fall_at_once) {
  draws from(1);
  EXPECT_EQ(fired_in(0.8, 0.01, 1, from), 1U);
  EXPECT_LE(fired_in(0.9, 0.02, 10, from), 3U);
}

TEST(guard, sees_a_small_fall_in_quiet_shares) {
  draws from(2);
  EXPECT_NE(fired_in(0.97, 0.003, 1, from), 0U);
}

TEST(guard, forgives_two_per_cent_and_gains) {
  draws from(3);
  EXPECT_EQ(fired_in(0.985, 0.0001, 1, from), 0U);
  EXPECT_EQ(fired_in(1.2, 0.01, 1, from), 0U);
}

TEST(guard, rarely_fires_for_noise_alone_however_many_neighbours_there_are) {
  for (const unsigned neighbours : {1U, 10U}) {
    draws from(4);
    unsigned fired = 0;
    for (int trial = 0; trial < 400; trial++) fired += fired_in(1, 0.05, neighbours, from) != 0 ? 1 : 0;
    EXPECT_LE(fired, 6U) << neighbours;  // 1.5 %
  }
}

TEST(guard, usually_sees_a_fall_of_six_per_cent_under_noise) {
  draws from(5);
  unsigned fired = 0;
  for (int trial = 0; trial < 100; trial++) fired += fired_in(0.94, 0.02, 3, from) != 0 ? 1 : 0;
  EXPECT_GE(fired, 95U);
}

TEST(guard, takes_an_unknown_noise_for_large) {
  neighbour_guard guard;
  EXPECT_FALSE(guard.trial(0, resting, true, 1));
  EXPECT_FALSE(guard.trial(0, other, false, 0.95));
  EXPECT_FALSE(guard.trial(0, other, false, 0.95));
  EXPECT_TRUE(guard.trial(0, 6, false, 0.7)) << "each count is judged by itself";
}

TEST(guard, forgets_a_trial_that_has_ended) {
  neighbour_guard guard;
  for (int i = 0; i < 20; i++) guard.resting(0, 1);
  EXPECT_FALSE(guard.trial(0, resting, true, 1));
  guard.end_trial();
  EXPECT_FALSE(guard.trial(0, other, false, 0.5)) << "there is nothing to compare with";
  EXPECT_FALSE(guard.trial(0, resting, true, 0)) << "no share";
  EXPECT_FALSE(guard.trial(0, other, false, 0.5));
}

}  // namespace
