// SPDX-License-Identifier: Apache-2.0
// How long a worker searches before it sleeps (park/learned_spin.hpp).
#include "park/learned_spin.hpp"

#include <gtest/gtest.h>

namespace {

using sukima::detail::learned_spin;

constexpr std::uint64_t least = 10, longest = 500;

TEST(learned_spin, is_as_short_as_it_may_be_at_first) { EXPECT_EQ(learned_spin().length(least), least); }

TEST(learned_spin, is_longer_after_a_sleep_that_it_would_have_avoided) {
  learned_spin spin;
  spin.note_sleep(longest, longest);
  EXPECT_EQ(spin.length(least), longest);
  spin.note_sleep(least + 1, longest);
  EXPECT_EQ(spin.length(least), longest);
}

TEST(learned_spin, is_short_again_after_a_longer_sleep) {
  learned_spin spin;
  spin.note_sleep(longest, longest);
  spin.note_sleep(longest + 1, longest);
  EXPECT_EQ(spin.length(least), least);
}

}  // namespace
