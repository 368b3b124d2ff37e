// SPDX-License-Identifier: Apache-2.0
// `sukima bench --nodes --hope` with a pretended program for several nodes, which are really killed.
#include <gtest/gtest.h>

#include <set>

#include "bench/hope_scenarios.hpp"
#include "bench/node_output.hpp"
#include "bench_command.hpp"

namespace sukima::cli::bench {
namespace {

class bench_hope : public bench_command {
 protected:
  /// Node k uses k + 1 seconds of CPU. In the second run of several nodes, all nodes wait until `deaths` of
  /// them are dead. With one kill-K, that is the run in which as many nodes are killed.
  /// \param answer what it prints: $nodes is the number of nodes, 0 without a cluster; $hope is 1 with --hope
  void add_hope_program(int deaths, const std::string& answer = "echo 7",
                        const std::string& seconds = "0.5") {
    const fs::path file = folder / "bin" / "bench-cluster";
    std::ofstream(file) << "#!/bin/sh\n"
                           "if [ \"$1\" = --list ]; then echo uts 3; echo fib 40; exit; fi\n"
                           "node=${SUKIMA_CLUSTER_NODE:-0}; nodes=${SUKIMA_CLUSTER_NODES:-0}\n"
                           "hope=${SUKIMA_CLUSTER_HOPE:-0}; runs="
                        << folder.string() << "/runs; deaths=" << deaths << "\n"
                        << "echo $1 $2 $node of $nodes hope $hope with $SUKIMA_WORKERS >> "
                        << (folder / "log").string() << R"(
if [ $hope = 1 ] && [ $nodes -gt 1 ]; then
  mkdir -p $runs/$PPID
  echo $$ > $runs/$PPID/new-$node
  mv $runs/$PPID/new-$node $runs/$PPID/$node
  if [ $(ls $runs | wc -l) = 2 ] && [ $deaths -gt 0 ]; then
    while [ $(ls $runs/$PPID | grep -c '^[0-9]*$') -lt $nodes ]; do sleep 0.01; done
    dead=0
    while [ $dead -lt $deaths ]; do
      sleep 0.01
      dead=0
      for process in $(cat $runs/$PPID/*); do kill -0 $process 2> /dev/null || dead=$((dead + 1)); done
    done
  fi
fi
)" << answer << "\necho \""
                        << seconds
                        << R"( s, 3 tasks given, 1 received; node $node: $((node + 1)).0 s of CPU" >&2
[ $hope = 0 ] || echo "node $node: 2 units published, 3 omitted, 1 cut, 4 yielded, 10 notes sent" >&2
)";
    fs::permissions(file, fs::perms::owner_all);
  }

  /// By scenario.
  static std::map<std::string, nlohmann::json> by_scenario(const process::child_result& result) {
    std::map<std::string, nlohmann::json> rows;
    for (const std::string& line : lines_of(result.output)) {
      auto row = nlohmann::json::parse(line);
      const std::string scenario = row.at("scenario");
      rows[scenario] = std::move(row);
    }
    return rows;
  }

  process::child_result run_scenarios(const std::string& scenarios,
                                      std::vector<std::string> more = {"--json"}) const {
    std::vector<std::string> words{"bench",  "uts", "--nodes",       "4", "--hope", "--scenario", scenarios,
                                   "--seed", "5",   "--repetitions", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST_F(bench_hope, without_deaths_is_beside_stealing_and_the_plain_program) {
  add_hope_program(0);
  const process::child_result result = run_scenarios("none,alone");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto rows = by_scenario(result);
  ASSERT_EQ(rows.size(), 4U) << result.output;
  EXPECT_EQ(rows.at("sequential").at("hope"), false);
  const nlohmann::json& none = rows.at("none");
  EXPECT_EQ(none.at("hope"), true);
  EXPECT_EQ(none.at("nodes"), 4);
  EXPECT_EQ(none.at("workers"), 1);
  EXPECT_EQ(none.at("seed"), 5);
  EXPECT_DOUBLE_EQ(none.at("ratio"), 1);
  EXPECT_TRUE(none.at("paired").contains("stealing"));
  EXPECT_DOUBLE_EQ(none.at("work"), 10);
  EXPECT_EQ(none.at("published"), 8);
  EXPECT_EQ(none.at("omitted"), 16);
  EXPECT_EQ(none.at("twice"), 20);
  EXPECT_EQ(none.at("messages"), 40);
  const nlohmann::json& alone = rows.at("alone");
  EXPECT_EQ(alone.at("nodes"), 1);
  EXPECT_DOUBLE_EQ(alone.at("work"), 1);
  EXPECT_TRUE(alone.at("paired").contains("sequential"));
  const auto calls = log();
  EXPECT_EQ(calls.size(), 10U);
  for (const char* call : {"uts 3 0 of 0 hope 0 with 1", "uts 3 3 of 4 hope 0 with 1",
                           "uts 3 3 of 4 hope 1 with 1", "uts 3 0 of 1 hope 1 with 1"})
    EXPECT_EQ(std::ranges::count(calls, call), 1) << call;
}

TEST_F(bench_hope, kills_one_node_and_counts_its_time) {
  add_hope_program(1);
  const process::child_result result = run_scenarios("kill-1");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto rows = by_scenario(result);
  const nlohmann::json& killed = rows.at("kill-1");
  const int doomed = draw_deaths(6, 4, 1, 0.5).front().node;
  const double reported = 10 - (doomed + 1);
  EXPECT_GT(killed.at("cpu_seconds").get<double>(), reported);
  EXPECT_LT(killed.at("cpu_seconds").get<double>(), reported + 0.9) << "a shell that mostly sleeps";
  EXPECT_NEAR(killed.at("lost_ms").get<double>(), 1e3 * (killed.at("cpu_seconds").get<double>() - 10), 1);
  EXPECT_EQ(killed.at("published"), 6);
  EXPECT_DOUBLE_EQ(killed.at("ratio"), 1) << "on two CPUs three nodes, or one, take as long as four";
  EXPECT_TRUE(killed.at("paired").contains("what the living nodes' CPUs allow"));
  EXPECT_TRUE(rows.contains("none")) << "what is lost is known from that";
}

TEST_F(bench_hope, kills_all_nodes_but_one_and_says_so_in_a_table) {
  add_hope_program(3);
  const process::child_result result = run_scenarios("kill-3", {});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("uts, size 3, 4 nodes of 1 worker on 2 CPUs, tcp, seed 5\n"),
            std::string::npos)
      << result.output;
  bool is_there = false;
  for (const std::string& line : lines_of(result.output)) {
    if (!line.starts_with("kill-3  ")) continue;
    is_there = true;
    std::istringstream words(line);
    const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    // After the name: workers, median, quartiles (3), ratio, interval (2), work; then the counts.
    ASSERT_GT(all.size(), 13U) << line;
    EXPECT_EQ(std::vector(all.begin() + 10, all.begin() + 14),
              (std::vector<std::string>{"2", "4", "5", "10"}));
    EXPECT_NE(line.find("what the living nodes' CPUs allow"), std::string::npos) << line;
  }
  EXPECT_TRUE(is_there) << result.output;
  EXPECT_NE(result.output.find("of CPU time lost by a death, a worker\n"), std::string::npos)
      << result.output;
}

TEST_F(bench_hope, fails_where_a_survivor_has_a_wrong_result) {
  add_hope_program(1, "[ $hope$nodes = 14 ] && [ $(ls $runs | wc -l) = 2 ] && echo 8 || echo 7");
  const process::child_result result = run_scenarios("kill-1");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("uts by sukima with 4 nodes of 1 worker, kill-1: has the result '8', but "
                               "sequential has '7'"),
            std::string::npos)
      << result.errors;
  EXPECT_FALSE(by_scenario(result).contains("kill-1"));
  EXPECT_TRUE(by_scenario(result).contains("none"));
}

TEST_F(bench_hope, fails_where_nodes_differ_or_one_dies_by_itself) {
  add_hope_program(0, "[ $hope$node = 12 ] && echo 8 || echo 7");
  process::child_result result = run_scenarios("none");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("uts by sukima with 4 nodes of 1 worker, none: ended with exit code 70"),
            std::string::npos)
      << result.errors;
  add_hope_program(0, "[ $hope$node = 12 ] && kill -SEGV $$; echo 7");
  result = run_scenarios("none");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("none: lost node 2 by signal 11 (Segmentation fault)"), std::string::npos)
      << result.errors;
  add_hope_program(0, "[ $hope$node = 12 ] && exit 3; echo 7");
  result = run_scenarios("none");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("none: had exit code 3 on node 2"), std::string::npos) << result.errors;
}

TEST_F(bench_hope, fails_where_nodes_end_before_they_are_killed) {
  add_hope_program(0, "echo 7", "1000000");
  const process::child_result result = run_scenarios("kill-1");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(
      result.errors.find("kill-1: ended 10 times before its nodes could be killed: give a larger --size"),
      std::string::npos)
      << result.errors;
}

TEST_F(bench_hope, measures_all_scenarios_without_a_list_and_all_programs_but_fib) {
  add_hope_program(0, "echo 7", "1000000");
  const process::child_result result =
      run({"bench", "all", "--nodes", "3", "--hope", "--json", "--repetitions", "1"});
  const auto rows = by_scenario(result);
  EXPECT_EQ(rows.size(), 4U) << result.output;
  for (const char* scenario : {"kill-1", "kill-2"})
    EXPECT_NE(result.errors.find(std::string(scenario) + ": ended 10 times"), std::string::npos)
        << result.errors;
  for (const std::string& call : log()) EXPECT_TRUE(call.starts_with("uts ")) << call;
}

TEST_F(bench_hope, refuses_what_is_wrong) {
  add_hope_program(0);
  const auto refused = [this](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), {"bench", "uts"});
    expect_refused(words, part);
  };
  refused({"--nodes", "4", "--scenario", "kill-1"},
          "--scenario has no meaning with --nodes without --hope: give --hope, too");
  refused({"--hope"}, "--hope is for --nodes: give numbers of nodes, too");
  refused({"--nodes", "2", "--seed", "3"}, "--seed is for the deaths of --hope");
  refused({"--nodes", "2,4", "--hope"}, "--nodes has several numbers: with --hope give one");
  refused({"--nodes", "4", "--hope", "--transport", "openmpi"}, "--hope needs --transport tcp");
  refused({"--nodes", "4", "--hope", "--scenario", "hogs"},
          "unknown scenario 'hogs' of --hope: choose none, ");
  for (const char* word : {"kill-0", "kill-", "kill-x", "kill-1x", "kill--1"})
    refused({"--nodes", "4", "--hope", "--scenario", word}, std::string("unknown scenario '") + word + "'");
  refused({"--nodes", "4", "--hope", "--scenario", "none,kill-4"}, "'kill-4' needs 5 nodes or more");
  refused({"--nodes", "1", "--hope", "--scenario", "none"}, "'none' needs 2 nodes or more");
}

TEST(hope_tasks, have_each_row_once_that_is_compared_with) {
  task one;
  one.workers = 2;
  const auto names = [&](const char* word, bool has_quota) {
    std::string all;
    for (const task& t : hope_tasks(one, 4, has_quota, parse_hope_scenarios({word}, 4)))
      all += t.scenario + ";";
    return all;
  };
  EXPECT_EQ(names("none", false), "sequential;stealing;none;");
  EXPECT_EQ(names("alone", false), "sequential;one process;alone;");
  EXPECT_EQ(names("alone", true), "sequential;one node;alone;");
  EXPECT_EQ(names("kill-2", false), "sequential;one process;stealing;none;kill-2;");
  one.workers = 1;
  EXPECT_EQ(names("kill-2", false), "sequential;stealing;none;kill-2;");
}

TEST(deaths, are_of_different_nodes_at_all_moments) {
  std::set<int> nodes;
  double first = 2, last = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::set<int> of_run;
    for (const planned_death& death : draw_deaths(seed, 5, 4, 2)) {
      of_run.insert(death.node);
      EXPECT_GE(death.seconds, 0);
      EXPECT_LT(death.seconds, 2);
      first = std::min(first, death.seconds);
      last = std::max(last, death.seconds);
    }
    EXPECT_EQ(of_run.size(), 4U);
    nodes.insert(of_run.begin(), of_run.end());
  }
  EXPECT_EQ(nodes, (std::set<int>{0, 1, 2, 3, 4}));
  EXPECT_LT(first, 0.1);
  EXPECT_GT(last, 1.9);
}

TEST(allowed_time, is_that_of_the_nodes_that_live) {
  // Four nodes of a CPU each, on as many.
  const allowed_time apart{{.each = 1, .machine = 4}, 4, 10, 2.5};
  EXPECT_DOUBLE_EQ(apart.with({}), 2.5);
  EXPECT_DOUBLE_EQ(apart.with({1}), 3);
  EXPECT_DOUBLE_EQ(apart.with({1, 1, 1}), 7);
  EXPECT_DOUBLE_EQ(apart.with({9}), 2.5) << "after the end";
  // On two CPUs, where two nodes do what four do.
  const allowed_time sharing{{.each = 1, .machine = 2}, 4, 10, 5};
  EXPECT_DOUBLE_EQ(sharing.with({1, 2}), 5);
  EXPECT_DOUBLE_EQ(sharing.with({1, 2, 3}), 7);
  // On one.
  const allowed_time one_cpu{{.each = 1, .machine = 1}, 2, 10, 11};
  EXPECT_DOUBLE_EQ(one_cpu.with({5.5}), 10.5);
  // With half a CPU each.
  const allowed_time halves{{.each = 0.5, .machine = 2}, 4, 20, 5};
  EXPECT_DOUBLE_EQ(halves.with({1}), 1 + 0.8 / 0.15);
}

std::string why_not(const std::string& errors, int nodes, const std::vector<node_death>& deaths) {
  process::child_result result;
  result.output = "7\n";
  result.errors = errors;
  const outcome read = parse_hope_output(result, nodes, deaths);
  const auto* const failure = std::get_if<run_failure>(&read);
  return failure == nullptr ? "" : failure->reason;
}

TEST(hope_output, has_the_time_and_the_units_of_each_node_that_lives) {
  const std::string time0 = "0.5 s, 3 tasks given, 1 received; node 0: 1.0 s of CPU\n";
  const std::string time1 = "0.25 s, 3 tasks given, 1 received; node 1: 1.0 s of CPU\n";
  const std::string units0 = "node 0: 2 units published, 3 omitted, 1 cut, 0 yielded, 10 notes sent\n";
  const std::string units1 = "node 1: 2 units published, 3 omitted, 1 cut, 0 yielded, 10 notes sent\n";
  EXPECT_EQ(why_not(units1 + time0 + units0 + time1, 2, {}), "");
  EXPECT_EQ(why_not(time0 + units0, 2, {}), "1 of 2 nodes reported their time");
  EXPECT_EQ(why_not(time0 + units0 + time1, 2, {}), "1 of 2 nodes reported their units");
  EXPECT_EQ(why_not(time0 + units0, 2, {{1, 0.1, 0.5}}), "");
  EXPECT_EQ(why_not(time0 + units0 + units1, 2, {{1, 0.1, 0.5}}), "") << "killed between its lines";
  process::child_result result;
  result.output = "7\n";
  result.errors = time1 + units1;
  EXPECT_TRUE(has_reported_time(result, 1));
  EXPECT_FALSE(has_reported_time(result, 0));
  const auto one = std::get<measurement>(parse_hope_output(result, 3, {{2, 0.1, 0.5}, {0, 0.2, 0.75}}));
  EXPECT_DOUBLE_EQ(one.cpu_seconds, 2.25);
  EXPECT_EQ(one.deaths, (std::vector<double>{0.1, 0.2}));
  result.errors = time0 + units0 + time1 + units1;
  const auto both = std::get<measurement>(parse_hope_output(result, 2, {}));
  EXPECT_DOUBLE_EQ(both.seconds, 0.25) << "of the first that has the result";
  EXPECT_DOUBLE_EQ(both.more.at("last_seconds"), 0.5);
}

}  // namespace
}  // namespace sukima::cli::bench
