// SPDX-License-Identifier: Apache-2.0
// The table of truth: its cells, its files, and how results become figures.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "truth/cell.hpp"
#include "truth/result.hpp"
#include "truth/score.hpp"
#include "truth/stage.hpp"

namespace {

using namespace sukima::truth;

TEST(cells, there_are_229_without_experiments_and_each_has_its_own_name) {
  std::set<std::string> names;
  int without_experiments = 0;
  for (const cell& one : all_cells()) {
    EXPECT_TRUE(names.insert(one.name()).second) << one.name();
    without_experiments += one.purpose != purpose::experiment && one.purpose != purpose::cost;
  }
  EXPECT_EQ(without_experiments, 229);
}

TEST(cells, thirty_are_quick) {
  std::set<std::string> names;
  for (const cell& one : quick_cells()) names.insert(one.name());
  EXPECT_EQ(names.size(), 30u);
}

TEST(cells, a_family_differs_only_in_our_threads) {
  cell one{.purpose = purpose::quota, .threads = 1, .hogs = 2, .quota = 0.5};
  cell two = one;
  two.threads = 2;
  EXPECT_EQ(one.family(), two.family());
  EXPECT_NE(one.name(), two.name());
  two.quota = 1;
  EXPECT_NE(one.family(), two.family());
}

cell_result result_of(const cell& one, double got) {
  cell_result result;
  result.name = one.name();
  result.got = got;
  result.windows = {got};
  for (estimates* all : {&result.tree, &result.tree_idle, &result.blind, &result.blind_idle}) {
    all->fill({got * 0.9, got, got * 1.1});
  }
  return result;
}

const figure* find(const std::vector<figure>& figures, const std::string& name) {
  const auto found = std::ranges::find(figures, name, &figure::name);
  return found != figures.end() ? &*found : nullptr;
}

TEST(stage, the_standard_error_is_a_part_of_the_mean_and_unknown_for_one_value) {
  EXPECT_DOUBLE_EQ(standard_error({2, 2, 2}), 0);
  EXPECT_DOUBLE_EQ(standard_error({1, 3}), 0.5);
  EXPECT_NEAR(standard_error({0.5, 1, 0.5, 1}), 0.1925, 1e-4);
  EXPECT_GT(standard_error({1}), 1e9);
  EXPECT_GT(standard_error({}), 1e9);
  EXPECT_GT(standard_error({0, 0}), 1e9);
}

TEST(score, allows_the_misses_that_the_target_expects) {
  figure one;
  one.target = 0.9;
  one.cases = 20;
  one.held = 18;
  EXPECT_TRUE(one.reached());
  one.held = 17;
  EXPECT_FALSE(one.reached());
  one.cases = 3;
  one.held = 2;
  EXPECT_TRUE(one.reached());
  one.held = 1;
  EXPECT_FALSE(one.reached());
  one.target = 1;
  one.held = 2;
  EXPECT_FALSE(one.reached());
}

TEST(score, right_estimates_reach_everything) {
  const cell one{.threads = 1};
  const std::vector<figure> figures = score({result_of(one, 1)});
  ASSERT_NE(find(figures, "now: 500 ms windows"), nullptr);
  for (const figure& each : figures) {
    EXPECT_TRUE(each.reached()) << each.name;
    EXPECT_EQ(each.worst, 0) << each.name;
    EXPECT_TRUE(each.misses.empty());
  }
}

TEST(score, cells_with_foreign_load_do_not_count) {
  cell_result disturbed = result_of({.threads = 1}, 1);
  disturbed.foreign = 0.5;
  EXPECT_TRUE(score({disturbed}).empty());
}

TEST(score, the_truth_for_other_numbers_of_threads_comes_from_other_cells) {
  const cell one{.threads = 1};
  const cell two{.threads = 2};
  // Both say 1 for every number; 2 threads get 2.
  cell_result first = result_of(one, 1);
  cell_result second = result_of(two, 2);
  second.tree = first.tree;
  const std::vector<figure> figures = score({first, second});
  const figure* const running = find(figures, "usable, all groups visible: running programs");
  ASSERT_NE(running, nullptr);
  EXPECT_EQ(running->cases, 4);
  EXPECT_EQ(running->held, 2);
  EXPECT_DOUBLE_EQ(running->worst, 0.5);
  EXPECT_FALSE(running->reached());
  EXPECT_EQ(running->misses.size(), 2u);
  const figure* const interval = find(figures, "usable, blind: the interval");
  ASSERT_NE(interval, nullptr);
  EXPECT_LT(interval->held, interval->cases);
}

TEST(score, changes_count_half_a_second_after_them_or_a_second_for_one_thread) {
  const cell several{.purpose = purpose::change, .where = place::two_groups, .threads = 2, .hogs = 2};
  cell_result result = result_of(several, 2);
  result.changes = {{0.5, 1, 1}, {1, 1, 2}};
  std::vector<figure> figures = score({result});
  const figure* half = find(figures, "now: half a second after a change, two or more threads");
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->cases, 1);
  EXPECT_EQ(half->held, 1);
  cell single = several;
  single.threads = 1;
  result.name = single.name();
  figures = score({result});
  const figure* second = find(figures, "now: a second after a change, one thread");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->cases, 1);
  EXPECT_EQ(second->held, 0);
}

TEST(results, a_file_is_read_as_it_was_written_and_a_cut_line_is_left_out) {
  std::string path = testing::TempDir() + "sukima-truth-XXXXXX";
  close(mkstemp(path.data()));
  const cell one{.threads = 2, .hogs = 1};
  cell_result result = result_of(one, 1.25);
  result.changes = {{0.5, 1, 2}};
  result.experiment_estimate = 0.75;
  const std::string line = nlohmann::json(result).dump();
  std::ofstream(path) << line << "\n" << line.substr(0, line.size() / 2);
  const std::vector<cell_result> read = read_results(path);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(nlohmann::json(read[0]), nlohmann::json(result));
  append_results(path) << line << "\n";
  EXPECT_EQ(read_results(path).size(), 2u) << "the cut line spoils the next one";
  append_results(path) << line;  // cut right before the newline
  EXPECT_EQ(read_results(path).size(), 2u);
  std::ofstream(path) << "{\"name\": 3}\n";
  EXPECT_THROW(static_cast<void>(read_results(path)), std::runtime_error);
  std::ofstream(path) << "not at all\n" << line << "\n";
  EXPECT_THROW(static_cast<void>(read_results(path)), std::runtime_error);
  std::filesystem::remove(path);
}

}  // namespace
