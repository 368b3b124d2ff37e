// SPDX-License-Identifier: Apache-2.0
// The assertions, and how often structures are walked over.
#include <gtest/gtest.h>
#include <base/shared/assert.hpp>
#include <base/shared/walk_pace.hpp>

#include <cstddef>

namespace {

struct structure {
  const char* violated = nullptr;
  int walks = 0;
  const char* violated_invariant() const { return violated; }
};

class assertions : public testing::Test {
  void SetUp() override { GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE); }
};

TEST_F(assertions, name_the_invariant_and_the_condition) {
  SUKIMA_ASSERT(true, "holds");
  EXPECT_DEATH(SUKIMA_ASSERT(1 + 1 == 3, "sums are right"),
               "an invariant does not hold: sums are right\n.*assert_test.cpp:[0-9]+: 1 \\+ 1 == 3");
}

TEST_F(assertions, name_the_invariant_of_a_structure) {
  structure sound;
  SUKIMA_ASSERT_VALID(sound);
  structure broken{.violated = "it is whole"};
  EXPECT_DEATH(SUKIMA_ASSERT_VALID(broken), "it is whole\n.*assert_test.cpp:[0-9]+: broken");
}

int early_return(structure& changed, bool breaks) {
  SUKIMA_ASSERT_VALID_AT_END(changed);
  if (breaks) {
    changed.violated = "it stays whole";
    return 1;
  }
  return 2;
}

TEST_F(assertions, look_at_a_structure_at_each_end_of_a_function) {
  structure changed;
  EXPECT_EQ(early_return(changed, false), 2);
  EXPECT_DEATH(early_return(changed, true), "it stays whole");
}

TEST(walk_pace, follows_the_first_operations) {
  sukima::walk_pace pace;
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(pace.is_due(1'000'000)) << i;
}

TEST(walk_pace, costs_a_constant_time_an_operation) {
  sukima::walk_pace pace;
  constexpr std::size_t operations = 100'000;
  std::size_t visited = 0;
  for (std::size_t elements = 1; elements <= operations; ++elements)
    if (pace.is_due(elements)) visited += elements;
  EXPECT_LT(visited, 3 * operations);
  EXPECT_GT(visited, operations / 2) << "it goes on";
}

}  // namespace
