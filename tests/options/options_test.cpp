// SPDX-License-Identifier: Apache-2.0
// The command lines of test programs.
#include "test_options.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using sukima_test::test_options;

/// A program with an option of each kind.
struct options_of_tests : testing::Test {
  std::uint64_t seed = 1;
  unsigned repeat = 2;
  int workers = 4;
  std::string file;
  bool fresh = false;
  test_options options{"Runs nothing."};

  options_of_tests() {
    options.add("--seed", &seed, "Seed");
    options.add("--repeat", &repeat, "Runs");
    options.add("--workers", &workers, "Workers", 1, 64);
    options.add("--file", &file, "A file");
    options.add("--fresh", &fresh, "Another seed");
    options.exclude("--fresh", "--seed");
  }
};

TEST_F(options_of_tests, keep_their_defaults) {
  EXPECT_FALSE(options.read({}).ends);
  EXPECT_EQ(seed, 1u);
  EXPECT_FALSE(fresh);
}

TEST_F(options_of_tests, are_set_by_both_forms) {
  EXPECT_FALSE(
      options.read({"--seed", "18446744073709551615", "--workers=64", "--file=a=b", "--repeat", "0"}).ends);
  EXPECT_EQ(seed, 18446744073709551615u);
  EXPECT_EQ(repeat, 0u);
  EXPECT_EQ(workers, 64);
  EXPECT_EQ(file, "a=b");
}

TEST_F(options_of_tests, are_refused_with_a_sentence) {
  const struct {
    std::vector<std::string_view> words;
    const char* sentence;
  } cases[] = {
      {{"--sed", "1"}, "there is no option '--sed'; see --help\n"},
      {{"5"}, "there is no option '5'; see --help\n"},
      {{"--seed"}, "--seed needs a value; see --help\n"},
      {{"--seed="}, "--seed is '': give a number from 0 to 18446744073709551615; see --help\n"},
      {{"--seed", "18446744073709551616"},
       "--seed is '18446744073709551616': give a number from 0 to 18446744073709551615; see --help\n"},
      {{"--repeat", "4294967296"},
       "--repeat is '4294967296': give a number from 0 to 4294967295; see --help\n"},
      {{"--workers", "0"}, "--workers is '0': give a number from 1 to 64; see --help\n"},
      {{"--workers", "-1"}, "--workers is '-1': give a number from 1 to 64; see --help\n"},
      {{"--workers", "4x"}, "--workers is '4x': give a number from 1 to 64; see --help\n"},
      {{"--fresh=1"}, "--fresh takes no value; see --help\n"}};
  for (const auto& [words, sentence] : cases) {
    const test_options::outcome found = test_options(options).read(words);
    EXPECT_TRUE(found.ends);
    EXPECT_EQ(found.exit_code, 2);
    EXPECT_EQ(found.text, sentence);
  }
}

TEST_F(options_of_tests, that_exclude_each_other_are_refused_in_any_order) {
  for (const auto& words :
       {std::vector<std::string_view>{"--fresh", "--seed", "5"}, {"--seed", "5", "--fresh"}})
    EXPECT_EQ(test_options(options).read(words).text, "leave out --fresh or --seed; see --help\n");
  EXPECT_EQ(test_options(options).read({"--seed", "5", "--seed", "5"}).text,
            "--seed is given twice; see --help\n");
}

TEST_F(options_of_tests, are_explained) {
  const test_options::outcome found = options.read({"--seed", "7", "--help"});
  EXPECT_TRUE(found.ends);
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_EQ(found.text,
            "Runs nothing.\n  --seed [7]  Seed\n  --repeat [2]  Runs\n  --workers [4]  Workers\n  --file  A "
            "file\n  "
            "--fresh  Another seed\n");
}

}  // namespace
