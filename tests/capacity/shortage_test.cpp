// SPDX-License-Identifier: Apache-2.0
// Judging whether CPU is short: the thresholds, the windows, and what a restart keeps.
#include <gtest/gtest.h>

#include <capacity/shared/shortage.h>

namespace {

constexpr std::uint64_t ms = 1'000'000;

bool observe(cap_shortage& state, const cap_shortage_rule& rule, std::uint64_t ran, std::uint64_t waited) {
  cap_shortage_add(&state, ran, waited);
  return cap_shortage_judge(&state, &rule);
}

/// One window of 20 ms: short above 10 % of waiting, enough again at 5 %.
constexpr cap_shortage_rule one_window{1, {{20 * ms, 0.1}}, 0.05, 1};
/// A short window that needs much waiting, and a long one that needs little; three calm ones end a shortage.
constexpr cap_shortage_rule two_windows{2, {{10 * ms, 0.4}, {100 * ms, 0.08}}, 0.02, 3};

TEST(shortage, nothing_observed_is_enough) {
  cap_shortage state{};
  EXPECT_FALSE(cap_shortage_judge(&state, &one_window));
  constexpr cap_shortage_rule no_length{1, {{0, 0.1}}, 0.05, 1};
  EXPECT_FALSE(cap_shortage_judge(&state, &no_length));
  EXPECT_EQ(state.waiting, 0);
}

TEST(shortage, a_window_that_is_too_short_stays_open) {
  cap_shortage state{};
  EXPECT_FALSE(observe(state, one_window, 5 * ms, 10 * ms));
  EXPECT_TRUE(observe(state, one_window, 2 * ms, 3 * ms));
  EXPECT_DOUBLE_EQ(state.waiting, 13.0 / 20);
}

TEST(shortage, between_the_two_thresholds_the_answer_stays) {
  cap_shortage state{};
  EXPECT_FALSE(observe(state, one_window, 92 * ms, 8 * ms));
  EXPECT_FALSE(observe(state, one_window, 90 * ms, 10 * ms));
  EXPECT_TRUE(observe(state, one_window, 89 * ms, 11 * ms));
  EXPECT_TRUE(observe(state, one_window, 92 * ms, 8 * ms));
  EXPECT_FALSE(observe(state, one_window, 95 * ms, 5 * ms));
}

TEST(shortage, a_window_counts_only_what_it_contains) {
  cap_shortage state{};
  EXPECT_TRUE(observe(state, one_window, 0, 1000 * ms));
  EXPECT_FALSE(observe(state, one_window, 20 * ms, 0));
  EXPECT_EQ(state.waiting, 0);
}

TEST(shortage, a_short_window_finds_much_waiting_soon) {
  cap_shortage state{};
  EXPECT_TRUE(observe(state, two_windows, 4 * ms, 6 * ms));
  EXPECT_EQ(state.waiting, 0) << "the last window has not ended";
}

TEST(shortage, a_long_window_finds_little_waiting) {
  cap_shortage state{};
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(observe(state, two_windows, 9 * ms, 1 * ms));
  EXPECT_TRUE(observe(state, two_windows, 9 * ms, 1 * ms));
}

TEST(shortage, only_calm_windows_in_a_row_end_it) {
  cap_shortage state{};
  ASSERT_TRUE(observe(state, two_windows, 0, 100 * ms));
  EXPECT_TRUE(observe(state, two_windows, 100 * ms, 0));
  EXPECT_TRUE(observe(state, two_windows, 100 * ms, 0));
  EXPECT_TRUE(observe(state, two_windows, 95 * ms, 5 * ms)) << "not calm";
  EXPECT_TRUE(observe(state, two_windows, 100 * ms, 0));
  EXPECT_TRUE(observe(state, two_windows, 100 * ms, 0));
  EXPECT_FALSE(observe(state, two_windows, 100 * ms, 0));
}

TEST(shortage, a_restart_keeps_the_answer_only) {
  cap_shortage state{};
  ASSERT_TRUE(observe(state, one_window, 0, 100 * ms));
  cap_shortage_add(&state, 0, 15 * ms);
  cap_shortage_restart(&state);
  EXPECT_TRUE(state.is_short);
  EXPECT_TRUE(observe(state, one_window, 19 * ms, 0)) << "the window is not full";
  EXPECT_FALSE(observe(state, one_window, 1 * ms, 0));
}

}  // namespace
