// SPDX-License-Identifier: Apache-2.0
// Scenarios: how output of long runs and of several processes is read, which runs the ideals need, and how
// they are computed.
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/plan.hpp"
#include "bench/report.hpp"
#include "bench/scenario_ideal.hpp"
#include "bench/scenario_stage.hpp"
#include "bench/summary.hpp"

namespace sukima::cli::bench {
namespace {

using namespace std::chrono_literals;

task make_task(const std::string& system, int workers, const std::string& scenario) {
  task t;
  t.benchmark = "fib";
  t.system = system;
  t.workers = workers;
  t.scenario = scenario;
  return t;
}

std::string line(double seconds, double cpu_seconds, const std::string& result,
                 const std::string& more = "") {
  return R"({"benchmark":"fib","seconds":)" + std::to_string(seconds) + R"(,"cpu_seconds":)" +
         std::to_string(cpu_seconds) + R"(,"result":")" + result + "\"" + more + "}\n";
}

outcome judged(int repetitions, const std::string& output, int exit_code = 0) {
  task t = make_task("sukima", 2, "hogs");
  t.repetitions = repetitions;
  process::child_result result;
  result.output = output;
  result.exit_code = exit_code;
  return judge_repetitions(result, t, 1s);
}

std::string reason_of(const outcome& o) {
  const auto* const failure = std::get_if<run_failure>(&o);
  return failure == nullptr ? "" : failure->reason;
}

TEST(repetitions, are_averaged) {
  const outcome o =
      judged(2, line(1, 2, "7", R"(,"started":10,"p99":4)") + line(2, 4, "7", R"(,"started":11,"p99":6)"));
  const auto& m = std::get<measurement>(o);
  EXPECT_DOUBLE_EQ(m.seconds, 1.5);
  EXPECT_DOUBLE_EQ(m.cpu_seconds, 3);
  EXPECT_EQ(m.result, "7");
  EXPECT_DOUBLE_EQ(m.more.at("p99"), 5);
  EXPECT_DOUBLE_EQ(m.more.at("started"), 10);
}

TEST(repetitions, that_are_wrong_are_a_failure) {
  EXPECT_EQ(reason_of(judged(2, line(1, 2, "7"))), "printed 1 lines for 2 repetitions");
  EXPECT_EQ(reason_of(judged(2, line(1, 2, "7") + line(1, 2, "8"))),
            "has the result '7' in one repetition and '8' in another");
  EXPECT_EQ(reason_of(judged(2, line(1, 2, "7") + line(1, 2, "7"), 3)), "ended with exit code 3");
  EXPECT_NE(reason_of(judged(2, line(1, 2, "7") + "nonsense\n")).find("nonsense"), std::string::npos);
}

TEST(several_processes, take_until_the_last_one_ends) {
  const measurement first{
      .seconds = 1, .cpu_seconds = 2, .size = {}, .result = "7", .more = {{"started", 10}}};
  const measurement late{
      .seconds = 0.9, .cpu_seconds = 1, .size = {}, .result = "7", .more = {{"started", 10.5}}};
  const outcome o = combine(std::vector{first, late}, 1);
  EXPECT_DOUBLE_EQ(std::get<measurement>(o).seconds, 1.4);
  EXPECT_DOUBLE_EQ(std::get<measurement>(o).cpu_seconds, 3);
  EXPECT_TRUE(std::get<measurement>(o).more.empty());
  // A late start counts once, however often the work is repeated.
  EXPECT_DOUBLE_EQ(std::get<measurement>(combine(std::vector{first, late}, 5)).seconds, 1.0);
  measurement other = late;
  other.result = "8";
  EXPECT_EQ(reason_of(combine(std::vector{first, other}, 1)),
            "has the result '7' in one process and '8' in another");
}

TEST(systems, that_differ_by_environment_are_for_their_benchmark_only) {
  const process::child_request active = request_for(make_task("openmp-gcc-active", 2, "alone"));
  EXPECT_EQ(active.environment,
            (std::vector<std::pair<std::string, std::string>>{{"OMP_WAIT_POLICY", "active"}}));
  EXPECT_TRUE(request_for(make_task("openmp-gcc", 2, "alone")).environment.empty());
  bench_request request;
  request.systems = {"openmp-gcc", "openmp-gcc-active"};
  std::vector<std::string> absent;
  const std::vector<installed_system> installed{{"openmp-gcc", {}}, {"openmp-gcc-active", {}}};
  EXPECT_TRUE(contenders_for(request, installed, "fib", absent).empty());
  EXPECT_EQ(absent, std::vector<std::string>{"openmp-gcc"});
}

TEST(busy_loops, report_how_much_cpu_there_was) {
  process::child_result result;
  result.output = "{\"seconds\":1.0,\"cpu_seconds\":1.25}\n";
  EXPECT_DOUBLE_EQ(std::get<measurement>(parse_hog_output(result, 1s)).cpu_seconds, 1.25);
  for (const char* wrong : {"", "[]", "{\"seconds\":1}", "{\"seconds\":0,\"cpu_seconds\":1}", "1.0 1.25"}) {
    result.output = wrong;
    EXPECT_NE(reason_of(parse_hog_output(result, 1s)), "") << wrong;
  }
  result.exit_code = 2;
  EXPECT_EQ(reason_of(parse_hog_output(result, 1s)), "ended with exit code 2");
}

TEST(ideals, need_busy_loops_in_each_place_and_the_sequential_program_alone) {
  const std::vector<task> tasks{make_task("sequential", 1, "hogs"), make_task("sukima", 1, "hogs"),
                                make_task("sukima", 2, "hogs"),     make_task("sukima", 8, "hogs"),
                                make_task("tbb", 8, "hogs"),        make_task("sequential", 1, "idle"),
                                make_task("sukima", 8, "idle"),     make_task("sukima", 8, "overworked")};
  std::vector<std::string> more;
  for (const task& t : tasks_for_ideals(tasks, 2)) {
    EXPECT_TRUE(t.reference);
    more.push_back(t.system + " " + std::to_string(t.workers) + " " + t.scenario);
  }
  EXPECT_EQ(more, (std::vector<std::string>{"sequential 1 alone", "sukima 1 alone", "ideal 1 hogs",
                                            "ideal 2 hogs", "ideal 1 idle"}));
  EXPECT_TRUE(tasks_for_ideals({make_task("sukima", 2, "alone")}, 2).empty());
  std::vector<task> with_alone = tasks;
  with_alone.push_back(make_task("sequential", 1, "alone"));
  EXPECT_EQ(tasks_for_ideals(with_alone, 2).size(), 4U);
  with_alone.push_back(make_task("sukima", 2, "alone"));
  EXPECT_EQ(tasks_for_ideals(with_alone, 2).size(), 4U) << "with two workers it does not count";
  with_alone.push_back(make_task("sukima", 1, "alone"));
  EXPECT_EQ(tasks_for_ideals(with_alone, 2).size(), 3U);
}

row make_row(const task& task, const std::vector<std::pair<double, double>>& seconds_and_cpu) {
  row r{task, {}, std::nullopt, std::nullopt};
  int round = 0;
  for (const auto& [seconds, cpu] : seconds_and_cpu)
    r.samples.push_back({round++, {seconds, cpu, std::nullopt, "", {}}});
  return r;
}

std::vector<row> rows_together() {
  task alone = make_task("sequential", 1, "alone"), loops = make_task("ideal", 2, "together");
  alone.reference = loops.reference = true;
  return {make_row(make_task("sequential", 1, "together"), {{2.2, 4}, {2.2, 4}}),
          make_row(make_task("sukima", 2, "together"), {{2.0, 4}, {4.0, 4}}),
          make_row(make_task("tbb", 2, "together"), {{3.0, 4}, {6.0, 4}}),
          make_row(alone, {{1, 1}, {1.5, 1}}), make_row(loops, {{1, 2}, {1, 1}})};
}

TEST(ideals, divide_the_work_by_the_cpu_of_the_same_round) {
  const auto ideal = ideal_of(rows_together()[1], rows_together());
  if (!ideal) FAIL() << "no ideal";
  EXPECT_DOUBLE_EQ(ideal->seconds.median, 3);  // four times 1 s, on 2 CPUs and on 1
  EXPECT_DOUBLE_EQ(ideal->cpus, 1.5);
  EXPECT_DOUBLE_EQ(ideal->over.estimate, 1);
  EXPECT_EQ(ideal->loops, 2);
}

TEST(ideals, are_made_of_our_own_work_with_one_worker_too) {
  std::vector<row> rows = rows_together();
  const auto without = ideal_of(rows[1], rows);
  EXPECT_TRUE(without && !without->own);
  task own = make_task("sukima", 1, "alone");
  own.reference = true;
  rows.push_back(make_row(own, {{1.5, 1.25}, {1.5, 1.25}}));
  const auto ideal = ideal_of(rows[2], rows);
  if (!ideal || !ideal->own) FAIL() << "no ideal";
  EXPECT_DOUBLE_EQ(ideal->seconds.median, 3) << "as without it";
  EXPECT_DOUBLE_EQ(ideal->own->seconds, 3.75);  // four times 1.25 s, on 2 CPUs and on 1
  EXPECT_DOUBLE_EQ(ideal->own->over.estimate, 1.2);
  const std::vector<summary> figures = summarise(rows);
  EXPECT_EQ(figures.size(), 3U);
  EXPECT_NE(json_line(figures[2]).find(R"("own_ideal":3.75,"over_own_ideal":{"ratio":1.2,)"),
            std::string::npos)
      << json_line(figures[2]);
  EXPECT_NE(table_text(figures, {}).find("/ own"), std::string::npos);
}

TEST(ideals, are_not_there_where_something_is_missing) {
  std::vector<row> rows = rows_together();
  EXPECT_FALSE(ideal_of(rows[0], rows).has_value());
  rows[4].failure = "broken";
  EXPECT_FALSE(ideal_of(rows[1], rows).has_value());
  rows.pop_back();
  EXPECT_FALSE(ideal_of(rows[1], rows).has_value());
  rows = rows_together();
  rows.erase(rows.begin() + 3);
  EXPECT_FALSE(ideal_of(rows[1], rows).has_value());
}

TEST(ideals, are_in_the_reports_and_their_runs_are_not) {
  const std::vector<summary> figures = summarise(rows_together());
  std::vector<std::string> systems;
  for (const summary& s : figures) systems.push_back(s.task.system);
  EXPECT_EQ(systems, (std::vector<std::string>{"sequential", "sukima", "tbb"}));
  EXPECT_NE(json_line(figures[1]).find(R"("ideal":3.0,"cpus":1.5,"over_ideal":{"ratio":1.0,)"),
            std::string::npos)
      << json_line(figures[1]);
  EXPECT_EQ(json_line(figures[0]).find("ideal"), std::string::npos);
  const std::string table = table_text(figures, {});
  EXPECT_NE(table.find("/ ideal"), std::string::npos) << table;
  EXPECT_NE(table.find("  ideal (1.50 CPUs available)              3.000"), std::string::npos) << table;
  EXPECT_NE(csv_text(figures, {}).find(",ideal,cpus"), std::string::npos);
}

TEST(plan, runs_a_scenario_for_one_benchmark_once) {
  bench_request request;
  request.benchmarks = {"fib", "lu"};
  request.scenarios = {"alone", "idle", "hogs"};
  std::string text;
  for (const auto& [benchmark, scenarios] : scenarios_by_benchmark(request)) {
    text += benchmark + ":";
    for (const std::string& scenario : scenarios) text += " " + scenario;
    text += "; ";
  }
  EXPECT_EQ(text, "fib: alone hogs; lu: alone hogs; idle: idle; ");
  request.benchmarks = {"idle"};
  ASSERT_EQ(scenarios_by_benchmark(request).size(), 1U);
  EXPECT_EQ(scenarios_by_benchmark(request)[0].scenarios.size(), 3U);
}

TEST(plan, takes_the_usual_numbers_of_workers_of_a_scenario_unless_some_are_given) {
  const auto counts = [](const char* name, bool given) {
    return find_scenario(name)->worker_counts({{1, 3}, given}, 2);
  };
  for (const char* name : {"hogs", "hog", "bursts"}) EXPECT_EQ(counts(name, false), std::vector<int>{2});
  for (const char* name : {"quota", "quota-half", "idle"})
    EXPECT_EQ(counts(name, false), std::vector<int>{8});
  EXPECT_EQ(counts("together", false), (std::vector<int>{2, 8}));
  for (const scenario_entry& scenario : scenarios()) {
    if (scenario.name == "overworked") continue;
    EXPECT_EQ(counts(scenario.name.data(), true), (std::vector<int>{1, 3})) << scenario.name;
  }
}

}  // namespace
}  // namespace sukima::cli::bench
