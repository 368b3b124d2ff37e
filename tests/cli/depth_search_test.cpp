// SPDX-License-Identifier: Apache-2.0
// The search for the best cut-off depth of a tuned program.
#include "bench/depth_search.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace sukima::cli::bench {
namespace {

task tuned_task(int workers = 2) {
  task t;
  t.benchmark = "uts";
  t.system = "tbb-tuned";
  t.compiler = "gcc";
  t.workers = workers;
  t.scenario = "alone";
  return t;
}

measurement took(double seconds) { return {seconds, seconds, 3, "1", {}}; }

void no_failure(const task& t, const run_failure& failure) {
  ADD_FAILURE() << describe(t) << ": " << failure.reason;
}

/// Depths in the order in which a program was run that takes these seconds at depth 0, 1, …
struct search_of {
  std::vector<int> tried;
  std::optional<depth_choice> found;

  explicit search_of(const std::vector<double>& seconds) {
    found = choose_depth(
        tuned_task(),
        [&](const task& t) {
          tried.push_back(t.depth.value());
          return took(seconds.at(static_cast<std::size_t>(*t.depth)));
        },
        no_failure);
  }
};

TEST(depth_search, stops_after_two_depths_that_are_no_better) {
  const search_of search({1.0, 0.6, 0.5, 0.7, 0.8, 0.1});
  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->depth, 2);
  EXPECT_DOUBLE_EQ(search.found->seconds, 0.5);
  EXPECT_EQ(search.tried, (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(depth_search, goes_on_after_one_depth_that_is_no_better) {
  const search_of search({1.0, 1.0, 0.6, 0.7, 0.5, 0.6, 0.6});
  EXPECT_EQ(search.found->depth, 4);
}

TEST(depth_search, finds_that_nothing_should_fork) {
  const search_of search({1.0, 1.1, 1.2});
  EXPECT_EQ(search.found->depth, 0);
}

TEST(depth_search, runs_long_programs_once) {
  const search_of search({9, 5, 6, 7});
  EXPECT_EQ(search.found->depth, 1);
  EXPECT_EQ(search.tried, (std::vector<int>{0, 1, 2, 3}));
}

TEST(depth_search, takes_the_better_of_two_runs) {
  std::map<int, std::vector<double>> seconds{
      {0, {0.9, 0.9}}, {1, {1.5, 0.5}}, {2, {0.6, 0.6}}, {3, {0.8, 0.8}}};
  const auto found = choose_depth(
      tuned_task(),
      [&](const task& t) {
        auto& left = seconds.at(*t.depth);
        const double one = left.front();
        left.erase(left.begin());
        return took(one);
      },
      no_failure);
  EXPECT_EQ(found->depth, 1);
  EXPECT_DOUBLE_EQ(found->seconds, 0.5);
}

TEST(depth_search, ends_where_every_depth_is_better_than_the_one_before) {
  int deepest = 0;
  const auto found = choose_depth(
      tuned_task(),
      [&](const task& t) {
        deepest = *t.depth;
        return took(1.0 / (1 + *t.depth));
      },
      no_failure);
  EXPECT_EQ(found->depth, deepest);
  EXPECT_LT(deepest, 100);
}

TEST(depth_search, counts_a_depth_at_which_the_program_does_not_end_as_worse) {
  int runs = 0;
  const auto found = choose_depth(
      tuned_task(),
      [&](const task& t) {
        ++runs;
        return *t.depth > 1 ? outcome(run_failure{"did not end", 10.0}) : outcome(took(1.0 / (1 + *t.depth)));
      },
      no_failure);
  EXPECT_EQ(found->depth, 1);
  EXPECT_EQ(runs, 6) << "twice at depths 0 and 1, once at 2 and 3";
}

TEST(depth_search, ends_at_another_failure) {
  std::vector<std::string> failures;
  const auto found = choose_depth(
      tuned_task(),
      [](const task& t) { return *t.depth == 1 ? outcome(run_failure{"broke"}) : outcome(took(1)); },
      [&](const task& t, const run_failure& failure) {
        failures.push_back(describe(t) + ": " + failure.reason);
      });
  EXPECT_FALSE(found.has_value());
  EXPECT_EQ(failures,
            std::vector<std::string>{"uts by tbb-tuned (gcc) at depth 1 with 2 workers, alone: broke"});
}

TEST(depth_search, is_made_for_each_number_of_workers_and_leaves_one_compiler) {
  const std::vector<program> programs{{"/g", "gcc", {"uts"}}, {"/c", "clang", {"uts"}}};
  const auto task_of = [](const program& by, int workers) {
    task t = tuned_task(workers);
    t.program = by.file;
    return t;
  };
  // The program /c is the better one, and as many levels should fork as there are workers less one.
  const auto run = [](const task& t) {
    return took((t.program == "/c" ? 1.0 : 1.2) + 0.1 * std::abs(*t.depth - (t.workers - 1)));
  };
  contender both{"tbb-tuned", programs, {}};
  choose_depths(both, {1, 2, 4}, false, task_of, run, no_failure);
  EXPECT_EQ(both.programs.size(), 2U);
  using depths = std::map<std::pair<std::filesystem::path, int>, int>;
  EXPECT_EQ(
      both.depths,
      (depths{
          {{"/g", 1}, 0}, {{"/g", 2}, 1}, {{"/g", 4}, 3}, {{"/c", 1}, 0}, {{"/c", 2}, 1}, {{"/c", 4}, 3}}));
  contender best{"tbb-tuned", programs, {}};
  choose_depths(best, {1, 2, 4}, true, task_of, run, no_failure);
  ASSERT_EQ(best.programs.size(), 1U);
  EXPECT_EQ(best.programs[0].file, "/c");
  EXPECT_EQ(best.depths.at({"/c", 4}), 3);
  EXPECT_FALSE(best.depths.contains({"/g", 4})) << "tried only with the fewest workers";
}

}  // namespace
}  // namespace sukima::cli::bench
