// SPDX-License-Identifier: Apache-2.0
// What the runtime learns about roots that end at once, tested with given times.
#include "short_roots.hpp"

#include "support.hpp"

namespace {

using sukima::detail::short_roots;
namespace tuning = sukima::detail::tuning;

constexpr std::uint64_t short_below = 100;
constexpr std::uint64_t long_from = 1000;
constexpr unsigned needed = tuning::short_calls_needed;
/// This multiple of the needed number, in short roots in a row, halves that number, as the header says.
constexpr unsigned forgiveness = 16;

/// A place that enters, and what its thread has learned.
class short_root : public testing::Test {
 protected:
  /// Records this number of roots in a row, which each take this number of ticks.
  void note(std::uint64_t took, unsigned times = 1, const void* code = first) {
    for (unsigned i = 0; i < times; ++i) roots.note(code, took, short_below, long_from);
  }
  /// The number of short ones in a row, from here, until the next one is expected to be short.
  unsigned still_needed(const void* code = first) {
    unsigned count = 0;
    for (; !roots.expects(code); ++count) note(short_below - 1, 1, code);
    return count;
  }

  static constexpr char codes[16 * 9] = {};
  /// Codes are distinguished by their addresses; those that are 16 · 8 bytes apart share a place.
  static constexpr const void* first = codes;
  static constexpr const void* beside = codes + 16;
  static constexpr const void* in_the_same_place = codes + 16 * 8;

  short_roots roots;
};

TEST_F(short_root, is_expected_after_enough_of_them_in_a_row) {
  EXPECT_FALSE(roots.expects(first));
  note(short_below - 1, needed - 1);
  EXPECT_FALSE(roots.expects(first));
  note(short_below - 1);
  EXPECT_TRUE(roots.expects(first));
}

TEST_F(short_root, is_expected_again_after_as_many_if_one_was_neither_short_nor_long) {
  note(0, needed);
  note(short_below);
  EXPECT_EQ(still_needed(), needed);
  note(long_from - 1);
  EXPECT_EQ(still_needed(), needed);
}

TEST_F(short_root, that_is_long_doubles_how_many_are_needed) {
  unsigned doubled = needed;
  EXPECT_EQ(still_needed(), doubled);
  while (doubled < tuning::most_short_calls_needed) {
    note(long_from);
    doubled *= 2;
    ASSERT_EQ(still_needed(), doubled);
  }
  note(long_from);
  EXPECT_EQ(still_needed(), doubled) << "the most there is";
}

TEST_F(short_root, that_is_long_but_was_not_expected_to_be_short_doubles_nothing) {
  note(0, needed - 1);
  note(long_from, 3);
  EXPECT_EQ(still_needed(), needed);
}

TEST_F(short_root, is_forgiven_a_long_one_after_many_short_ones) {
  note(0, needed);
  note(long_from);
  note(0, forgiveness * 2 * needed - 1);
  note(short_below);
  EXPECT_EQ(still_needed(), 2 * needed) << "one too few";
  note(short_below);
  note(0, forgiveness * 2 * needed);
  EXPECT_TRUE(roots.expects(first)) << "halved, not begun anew";
  note(short_below);
  EXPECT_EQ(still_needed(), needed);
  note(0, forgiveness * needed);
  note(short_below);
  EXPECT_EQ(still_needed(), needed) << "never below what was needed first";
}

TEST_F(short_root, of_unknown_length_takes_one_short_one_more) {
  note(0, needed);
  roots.doubt(first);
  EXPECT_EQ(still_needed(), 1u);
  note(0, 3);
  roots.doubt(first);
  roots.doubt(first);
  EXPECT_EQ(still_needed(), 1u);
  roots.doubt(first);
  note(long_from);
  EXPECT_EQ(still_needed(), needed) << "it was not expected to be short";
  roots.doubt(in_the_same_place);
  EXPECT_TRUE(roots.expects(first)) << "another code";
}

TEST(timed_roots, learn_of_long_ones_between_short_ones_that_follow_one_another) {
  for (const unsigned period : {16u, 100u}) {
    sukima::detail::timed_roots roots;
    const char code = 0;
    std::uint64_t now = 1;
    unsigned wrong = 0;
    // As the entries do: what is expected to be short is not announced.
    const auto enter = [&](std::uint64_t took) {
      const std::uint64_t before = roots.ended_at();
      const std::uint64_t begun = now;
      now += took;
      if (roots.expects(&code))
        roots.note_unannounced(&code, before, roots.is_next_timed() ? begun : 0, now, long_from);
      else
        roots.note_announced(&code, took, short_below, long_from);
    };
    for (unsigned turn = 0; turn < 300; ++turn) {
      for (unsigned i = 1; i < period; ++i) enter(1);
      if (roots.expects(&code)) ++wrong;
      if (turn >= 100) {
        EXPECT_FALSE(roots.expects(&code)) << period << ", " << turn;
      }
      enter(long_from);
    }
    EXPECT_GT(wrong, 0u) << period;
  }
}

TEST(timed_roots, read_the_clock_once_while_they_follow_one_another) {
  sukima::detail::timed_roots roots;
  const char code = 0;
  std::uint64_t now = 1;
  const auto enter = [&](std::uint64_t after) {
    now += after;
    const bool is_timed = roots.is_next_timed();
    roots.note_unannounced(&code, roots.ended_at(), is_timed ? now : 0, now + 1, long_from);
    return is_timed;
  };
  now += long_from;
  EXPECT_TRUE(enter(1)) << "the first one";
  for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(enter(1), i == 0);
  EXPECT_FALSE(enter(long_from)) << "not expected";
  for (unsigned in_a_row = 1; in_a_row <= 7; in_a_row = 2 * in_a_row + 1) {
    for (unsigned i = 0; i < in_a_row + 5; ++i) EXPECT_EQ(enter(1), i < in_a_row) << in_a_row;
    enter(long_from);
  }
}

TEST_F(short_root, of_another_code_is_learned_apart) {
  note(0, needed);
  EXPECT_FALSE(roots.expects(beside));
  note(long_from, 1, beside);
  EXPECT_TRUE(roots.expects(first));
}

TEST_F(short_root, of_a_code_that_shares_the_place_begins_anew) {
  note(0, needed);
  note(long_from);
  EXPECT_EQ(still_needed(), 2 * needed);
  EXPECT_FALSE(roots.expects(in_the_same_place));
  EXPECT_EQ(still_needed(in_the_same_place), needed) << "nothing of the first one";
  EXPECT_FALSE(roots.expects(first)) << "its place was taken";
  EXPECT_EQ(still_needed(), needed) << "what it had learned is gone";
}

}  // namespace
