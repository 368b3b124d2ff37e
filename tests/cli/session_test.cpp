// SPDX-License-Identifier: Apache-2.0
// Interleaved rounds, the choice of a compiler, the comparison of results, and the figures made of them.
#include "bench/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/summary.hpp"

namespace sukima::cli::bench {
namespace {

task a_task(const std::string& system, int workers = 1, const std::string& compiler = "gcc") {
  task t;
  t.benchmark = "fib";
  t.size = 30;
  t.system = system;
  t.compiler = compiler;
  t.workers = workers;
  t.scenario = "alone";
  return t;
}

measurement a_measurement(double seconds, const std::string& result = "1") {
  return {seconds, seconds, 30, result, {}};
}

row a_row(const task& task, const std::vector<double>& seconds, const std::string& result = "1") {
  row r{task, {}, std::nullopt};
  for (std::size_t i = 0; i < seconds.size(); ++i)
    r.samples.push_back({static_cast<int>(i), a_measurement(seconds[i], result)});
  return r;
}

void ignore(const task&, std::size_t, std::size_t) {}

TEST(rounds, run_every_task_once_in_each_round_in_changing_order) {
  const std::vector<task> tasks{a_task("a"), a_task("b"), a_task("c"), a_task("d")};
  std::vector<std::string> order;
  std::vector<std::size_t> done;
  const auto rows = run_rounds(
      tasks, {.repetitions = 6},
      [&](const task& t) {
        order.push_back(t.system);
        return a_measurement(1);
      },
      [&](const task&, std::size_t d, std::size_t total) {
        done.push_back(d);
        EXPECT_EQ(total, 24U);
      });
  ASSERT_EQ(order.size(), 24U);
  EXPECT_EQ(done.back(), 23U);
  std::set<std::vector<std::string>> orders;
  for (std::size_t round = 0; round < 6; ++round) {
    std::vector<std::string> one(order.begin() + static_cast<long>(4 * round),
                                 order.begin() + static_cast<long>(4 * round + 4));
    orders.insert(one);
    std::ranges::sort(one);
    EXPECT_EQ(one, (std::vector<std::string>{"a", "b", "c", "d"}));
  }
  EXPECT_GT(orders.size(), 1U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].task.system, tasks[i].system);
    EXPECT_EQ(rows[i].samples.size(), 6U);
  }
}

TEST(rounds, are_the_same_for_the_same_seed) {
  const std::vector<task> tasks{a_task("a"), a_task("b"), a_task("c")};
  const auto order_of = [&](std::uint64_t seed) {
    std::string order;
    run_rounds(
        tasks, {.repetitions = 10, .seed = seed},
        [&](const task& t) {
          order += t.system;
          return a_measurement(1);
        },
        ignore);
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

TEST(rounds, do_not_repeat_what_failed) {
  int runs = 0;
  const auto rows = run_rounds(
      {a_task("good"), a_task("bad")}, {.repetitions = 5},
      [&](const task& t) -> outcome {
        if (t.system == "good") return a_measurement(1);
        return ++runs < 3 ? outcome(a_measurement(1)) : outcome(run_failure{"broke"});
      },
      ignore);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(rows[0].samples.size(), 5U);
  EXPECT_FALSE(rows[0].failure.has_value());
  EXPECT_EQ(rows[1].failure, "broke");
}

TEST(rounds, cut_slow_peers_short_but_run_them_once) {
  const std::map<std::string, double> seconds{
      {"sequential", 1}, {"sukima", 9}, {"tbb", 2.5}, {"rayon", 3.5}, {"lace", 90}};
  std::vector<task> tasks;
  for (const auto& [system, time] : seconds) tasks.push_back(a_task(system));
  using counts = std::map<std::string, std::size_t>;
  const auto repetitions_of = [&](double limit) {
    counts repetitions;
    for (const row& r : run_rounds(
             tasks, {.repetitions = 10, .peer_seconds = limit},
             [&](const task& t) { return a_measurement(seconds.at(t.system)); }, ignore)) {
      repetitions[r.task.system] = r.samples.size();
    }
    return repetitions;
  };
  EXPECT_EQ(repetitions_of(10),
            (counts{{"sequential", 10}, {"sukima", 10}, {"tbb", 10}, {"rayon", 3}, {"lace", 1}}));
  EXPECT_EQ(repetitions_of(0),
            (counts{{"sequential", 10}, {"sukima", 10}, {"tbb", 10}, {"rayon", 10}, {"lace", 10}}));
}

TEST(rounds, cut_no_short_runs_even_if_others_are_shorter) {
  const auto rows = run_rounds(
      {a_task("sequential"), a_task("tbb")}, {.repetitions = 10, .peer_seconds = 1},
      [&](const task& t) { return a_measurement(t.system == "tbb" ? 1.9 : 0.001); }, ignore);
  EXPECT_EQ(rows[1].samples.size(), 10U);
}

TEST(rounds, stop_a_peer_at_its_time_limit_but_fail_sukima_there) {
  std::map<std::string, int> runs;
  const auto rows = run_rounds(
      {a_task("sequential"), a_task("sukima"), a_task("tbb"), a_task("rayon", 2), a_task("rayon", 1),
       a_task("rayon", 4), a_task("rayon", 2, "clang")},
      {.repetitions = 5},
      [&](const task& t) -> outcome {
        const int run = ++runs[t.system + std::to_string(t.workers) + t.compiler];
        const bool hangs = t.system == "sukima" || (t.system == "tbb" && run == 3) ||
                           (t.system == "rayon" && t.workers > 1 && t.compiler == "gcc");
        return hangs ? outcome(run_failure{"did not end", 20.0}) : outcome(a_measurement(1));
      },
      ignore);
  EXPECT_EQ(runs, (std::map<std::string, int>{{"sequential1gcc", 5},
                                              {"sukima1gcc", 1},
                                              {"tbb1gcc", 3},
                                              {"rayon1gcc", 5},
                                              {"rayon2gcc", 1},
                                              {"rayon2clang", 5}}));
  EXPECT_EQ(rows[1].failure, "did not end");
  EXPECT_FALSE(rows[1].stopped_after.has_value());
  for (const std::size_t stopped : {2U, 3U}) {
    EXPECT_FALSE(rows[stopped].failure.has_value());
    EXPECT_EQ(rows[stopped].stopped_after, 20.0);
    EXPECT_TRUE(rows[stopped].samples.empty());
  }
  EXPECT_EQ(
      notes_on_stopped(rows),
      (std::vector<std::string>{
          "fib by tbb (gcc) with 1 worker, alone: stopped after 20 s",
          "fib by rayon (gcc) with 2 workers, alone: stopped after 20 s; not tried with more workers"}));
  EXPECT_EQ(summarise(rows).size(), 3U);
}

TEST(rounds, run_fewer_workers_first_in_the_first_round) {
  std::vector<int> workers;
  std::vector<task> tasks;
  for (const int n : {8, 2, 1, 4, 3, 7, 6, 5}) tasks.push_back(a_task("tbb", n));
  run_rounds(
      tasks, {.repetitions = 2},
      [&](const task& t) {
        workers.push_back(t.workers);
        return a_measurement(1);
      },
      ignore);
  ASSERT_EQ(workers.size(), 16U);
  EXPECT_TRUE(std::is_sorted(workers.begin(), workers.begin() + 8));
  EXPECT_FALSE(std::is_sorted(workers.begin() + 8, workers.end()));
}

TEST(choice_of_compiler, takes_the_better_of_two_looks) {
  std::vector<double> gcc{1.0, 0.5};
  std::vector<double> clang{0.6, 0.6};
  std::size_t gcc_runs = 0;
  std::size_t clang_runs = 0;
  const auto fastest = choose_fastest(
      {a_task("tbb", 1, "gcc"), a_task("tbb", 1, "clang")},
      [&](const task& t) {
        return a_measurement(t.compiler == "gcc" ? gcc.at(gcc_runs++) : clang.at(clang_runs++));
      },
      [](std::size_t, const run_failure&) { ADD_FAILURE(); });
  EXPECT_EQ(fastest, 0U);
  EXPECT_EQ(gcc_runs + clang_runs, 4U);
}

TEST(choice_of_compiler, looks_once_at_long_runs) {
  int runs = 0;
  const auto fastest = choose_fastest(
      {a_task("tbb", 1, "gcc"), a_task("tbb", 1, "clang")},
      [&](const task& t) {
        ++runs;
        return a_measurement(t.compiler == "gcc" ? 9 : 8);
      },
      [](std::size_t, const run_failure&) { ADD_FAILURE(); });
  EXPECT_EQ(fastest, 1U);
  EXPECT_EQ(runs, 2);
}

TEST(choice_of_compiler, skips_a_compiler_that_fails) {
  std::vector<std::size_t> failed;
  const auto fastest = choose_fastest(
      {a_task("tbb", 1, "gcc"), a_task("tbb", 1, "clang")},
      [&](const task& t) {
        return t.compiler == "gcc" ? outcome(run_failure{"x"}) : outcome(a_measurement(8));
      },
      [&](std::size_t i, const run_failure&) { failed.push_back(i); });
  EXPECT_EQ(fastest, 1U);
  EXPECT_EQ(failed, std::vector<std::size_t>{0});
}

TEST(choice_of_compiler, gives_a_peer_up_that_does_not_end) {
  for (const auto& [system, expected_runs] : std::map<std::string, int>{{"tbb", 1}, {"sukima", 3}}) {
    int runs = 0;
    const auto fastest = choose_fastest(
        {a_task(system, 1, "gcc"), a_task(system, 1, "clang")},
        [&](const task& t) {
          ++runs;
          return t.compiler == "gcc" ? outcome(run_failure{"x", 20.0}) : outcome(a_measurement(1));
        },
        [](std::size_t i, const run_failure&) { EXPECT_EQ(i, 0U); });
    EXPECT_EQ(runs, expected_runs) << system;
    EXPECT_EQ(fastest.has_value(), system == "sukima");
  }
}

TEST(choice_of_compiler, is_empty_if_all_fail) {
  const auto fastest = choose_fastest(
      {a_task("tbb")}, [&](const task&) { return run_failure{"x"}; }, [](std::size_t, const run_failure&) {});
  EXPECT_EQ(fastest, std::nullopt);
}

TEST(results, are_compared_with_the_sequential_program) {
  std::vector<row> rows{a_row(a_task("tbb"), {1}, "7"), a_row(a_task("sukima"), {1}, "7"),
                        a_row(a_task("sequential"), {1}, "8"), a_row(a_task("lace"), {1}, "")};
  check_results(rows);
  EXPECT_EQ(rows[0].failure, "has the result '7', but sequential has '8'");
  EXPECT_TRUE(rows[1].failure.has_value());
  EXPECT_FALSE(rows[2].failure.has_value());
  EXPECT_FALSE(rows[3].failure.has_value()) << "an external command says no result";
}

TEST(results, are_compared_with_most_rows_without_a_sequential_program) {
  std::vector<row> rows{a_row(a_task("tbb"), {1}, "7"), a_row(a_task("sukima"), {1}, "8"),
                        a_row(a_task("rayon"), {1}, "8")};
  check_results(rows);
  EXPECT_EQ(rows[0].failure, "has the result '7', but sukima has '8'");
  EXPECT_FALSE(rows[1].failure.has_value());
  EXPECT_FALSE(rows[2].failure.has_value());
}

TEST(results, are_compared_in_every_round) {
  std::vector<row> rows{a_row(a_task("sequential"), {1, 1, 1}), a_row(a_task("tbb"), {1, 1, 1})};
  rows[1].samples[2].measured.result = "2";
  check_results(rows);
  EXPECT_TRUE(rows[1].failure.has_value());
}

TEST(results, of_another_size_are_failures) {
  std::vector<row> rows{a_row(a_task("sequential"), {1}), a_row(a_task("tbb"), {1})};
  rows[1].samples[0].measured.size = 31;
  check_results(rows);
  EXPECT_EQ(rows[1].failure, "ran size 31, but sequential ran size 30");
}

TEST(figures, are_medians_and_ratios) {
  const auto figures =
      summarise({a_row(a_task("sequential"), {1, 3, 2}), a_row(a_task("sukima", 2), {1, 1.5, 1}),
                 a_row(a_task("tbb", 2), {4, 6, 4}), a_row(a_task("rayon", 2), {2, 2, 2}),
                 a_row(a_task("rayon", 1), {9, 9, 9})});
  ASSERT_EQ(figures.size(), 5U);
  EXPECT_DOUBLE_EQ(figures[0].seconds.median, 2);
  EXPECT_DOUBLE_EQ(figures[0].seconds.q1, 1.5);
  EXPECT_DOUBLE_EQ(figures[0].seconds.q3, 2.5);
  EXPECT_EQ(figures[0].ratio, 1);
  EXPECT_EQ(figures[1].ratio, 0.5);
  EXPECT_EQ(figures[2].ratio, 2);
  EXPECT_FALSE(figures[1].own_ratio.has_value());
  EXPECT_EQ(figures[2].own_ratio, 0.25);
  EXPECT_EQ(figures[3].own_ratio, 0.5);
  EXPECT_FALSE(figures[4].own_ratio.has_value()) << "Sukima was not measured with one worker";
  EXPECT_FALSE(figures[2].best_peer);
  EXPECT_TRUE(figures[3].best_peer);
  EXPECT_TRUE(figures[4].best_peer);
  ASSERT_EQ(figures[1].paired.size(), 2U);
  EXPECT_DOUBLE_EQ(figures[1].paired.at("tbb").estimate, 0.25);
  EXPECT_DOUBLE_EQ(figures[1].paired.at("rayon").estimate, 0.5);
  EXPECT_DOUBLE_EQ(figures[1].paired.at("rayon").high, 0.75);
}

TEST(figures, pair_only_rounds_that_both_have) {
  row peer = a_row(a_task("tbb"), {1, 1, 1});
  peer.samples.erase(peer.samples.begin());
  const auto figures = summarise({a_row(a_task("sukima"), {100, 2, 2}), peer});
  EXPECT_DOUBLE_EQ(figures[0].paired.at("tbb").estimate, 2);
  EXPECT_DOUBLE_EQ(figures[0].paired.at("tbb").high, 2);
}

TEST(figures, compare_rows_of_the_same_compiler) {
  const auto figures =
      summarise({a_row(a_task("sequential", 1, "gcc"), {1}), a_row(a_task("sequential", 1, "clang"), {2}),
                 a_row(a_task("sukima", 1, "gcc"), {2}), a_row(a_task("sukima", 1, "clang"), {2}),
                 a_row(a_task("rayon", 1, "rustc"), {3}), a_row(a_task("lace", 1, ""), {4})});
  EXPECT_EQ(figures[2].ratio, 2);
  EXPECT_EQ(figures[3].ratio, 1);
  EXPECT_EQ(figures[4].ratio, 3) << "the fastest sequential program";
  EXPECT_EQ(figures[5].ratio, 4);
}

TEST(figures, keep_scenarios_apart) {
  task seq_busy = a_task("sequential");
  seq_busy.scenario = "overworked";
  task sukima_busy = a_task("sukima", 8);
  sukima_busy.scenario = "overworked";
  const auto figures =
      summarise({a_row(a_task("sequential"), {1}), a_row(seq_busy, {2}), a_row(sukima_busy, {2})});
  EXPECT_EQ(figures[2].ratio, 1);
}

TEST(figures, leave_out_what_failed_or_cannot_be_divided) {
  std::vector<row> rows{a_row(a_task("sequential"), {0}), a_row(a_task("sukima"), {1}),
                        a_row(a_task("tbb"), {1})};
  rows[2].failure = "x";
  const auto figures = summarise(rows);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_FALSE(figures[1].ratio.has_value());
  EXPECT_TRUE(figures[1].paired.empty());
}

TEST(figures, have_the_medians_of_further_numbers) {
  std::vector<row> rows{a_row(a_task("sukima"), {1, 1, 1})};
  for (int i = 0; i < 3; ++i)
    rows[0].samples[static_cast<std::size_t>(i)].measured.more["bytes"] = 100.0 * i * i;
  EXPECT_DOUBLE_EQ(summarise(rows)[0].more.at("bytes"), 100);
}

TEST(outliers, are_the_rows_of_sukima_whose_slowest_repetition_took_too_long) {
  const std::vector<summary> figures =
      summarise({a_row(a_task("sequential"), {1, 1, 9}), a_row(a_task("sukima", 1), {1, 1, 1.5}),
                 a_row(a_task("sukima", 2), {1, 1.75, 1})});
  EXPECT_DOUBLE_EQ(figures[1].slowest, 1.5);
  EXPECT_EQ(outliers(figures, 1.5),
            (std::vector<std::string>{"fib by sukima (gcc) with 2 workers, alone: the slowest of 3 "
                                      "repetitions took 1.75 times the median"}));
  EXPECT_EQ(outliers(figures, 1.2).size(), 2U);
  EXPECT_TRUE(outliers(figures, 2).empty());
}

TEST(figures, divide_cpu_seconds_by_those_of_the_sequential_program) {
  std::vector<row> rows{a_row(a_task("sequential"), {2, 2}), a_row(a_task("tbb", 2), {3, 3})};
  EXPECT_DOUBLE_EQ(*summarise(rows)[1].cpu_ratio, 1.5);
  EXPECT_DOUBLE_EQ(*summarise(rows)[0].cpu_ratio, 1);
  for (sample& one : rows[0].samples) one.measured.cpu_seconds = 0;
  EXPECT_FALSE(summarise(rows)[1].cpu_ratio.has_value());
  rows.erase(rows.begin());
  EXPECT_FALSE(summarise(rows)[0].cpu_ratio.has_value());
}

}  // namespace
}  // namespace sukima::cli::bench
