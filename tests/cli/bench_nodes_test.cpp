// SPDX-License-Identifier: Apache-2.0
// `sukima bench --nodes` with a pretended program for several nodes.
#include <gtest/gtest.h>

#include "bench/node_output.hpp"
#include "bench_command.hpp"
#include "shared/group_home.hpp"

namespace sukima::cli::bench {
namespace {

class bench_nodes : public bench_command {
 protected:
  /// Node k uses k + 1 seconds of CPU. `answer` is what it prints: $nodes is how many there are, 0 without a
  /// cluster.
  void add_cluster_program(const std::string& answer = "echo 7", const std::string& before = ":") {
    const fs::path file = folder / "bin" / "bench-cluster";
    std::ofstream(file)
        << "#!/bin/sh\n"
           "if [ \"$1\" = --list ]; then echo uts 3; echo fib 40; exit; fi\n"
           "node=${SUKIMA_CLUSTER_NODE:-0}; nodes=${SUKIMA_CLUSTER_NODES:-0}\n"
        << before << "\n"
        << "echo $1 $2 $node of $nodes with $SUKIMA_WORKERS >> " << (folder / "log") << "\n"
        << answer
        << "\necho \"0.5 s, 3 tasks given, 1 received; node $node: $((node + 1)).0 s of CPU\" >&2\n";
    fs::permissions(file, fs::perms::owner_all);
  }
};

TEST_F(bench_nodes, are_measured_beside_one_process) {
  add_cluster_program();
  const process::child_result result =
      run({"bench", "fib", "--nodes", "1,3", "--json", "--repetitions", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  std::vector<nlohmann::json> rows;
  for (const std::string& line : lines_of(result.output)) rows.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(rows[0].contains("nodes"));
  EXPECT_EQ(rows[0].at("workers"), 2);
  EXPECT_EQ(rows[1].at("nodes"), 1);
  EXPECT_EQ(rows[1].at("workers"), 2);
  EXPECT_FALSE(rows[1].contains("share_0"));
  const nlohmann::json& three = rows[2];
  EXPECT_EQ(three.at("nodes"), 3);
  EXPECT_EQ(three.at("workers"), 1);
  EXPECT_EQ(three.at("scenario"), "tcp");
  EXPECT_EQ(three.at("size"), 40);
  EXPECT_EQ(three.at("repetitions"), 2);
  EXPECT_DOUBLE_EQ(three.at("seconds").at("median"), 0.5);
  EXPECT_DOUBLE_EQ(three.at("cpu_seconds"), 6);
  EXPECT_DOUBLE_EQ(three.at("ratio"), 1);
  EXPECT_DOUBLE_EQ(three.at("cpu_ratio"), 6);
  EXPECT_DOUBLE_EQ(three.at("paired").at("one process").at("ratio"), 1);
  EXPECT_EQ(three.at("tasks"), 9);
  EXPECT_NEAR(three.at("share_0").get<double>(), 1.0 / 6, 1e-5);
  EXPECT_NEAR(three.at("share_2").get<double>(), 0.5, 1e-5);
  EXPECT_NEAR(three.at("share_least").get<double>(), 1.0 / 6, 1e-5);
  const auto calls = log();
  EXPECT_EQ(calls.size(), 10U);
  EXPECT_EQ(std::ranges::count(calls, "fib 40 0 of 0 with 2"), 2);
  EXPECT_EQ(std::ranges::count(calls, "fib 40 0 of 1 with 2"), 2);
  for (const char* call : {"fib 40 0 of 3 with 1", "fib 40 1 of 3 with 1", "fib 40 2 of 3 with 1"})
    EXPECT_EQ(std::ranges::count(calls, call), 2) << call;
}

TEST_F(bench_nodes, are_in_a_table_with_the_share_of_each) {
  add_cluster_program();
  const fs::path file = folder / "rows.csv";
  const process::child_result result = run({"bench", "uts", "--nodes", "3", "--workers", "4", "--size", "5",
                                            "--repetitions", "1", "--csv", file.string()});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("uts, size 5, tcp\n"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("one process        2     0.500"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("3                  4     0.500"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("17 33 50\n"), std::string::npos) << result.output;
  std::ifstream csv(file);
  const std::string text{std::istreambuf_iterator<char>(csv), {}};
  EXPECT_NE(text.find("share_0,share_1,share_2,share_least,tasks\n"), std::string::npos) << text;
}

TEST_F(bench_nodes, that_fail_are_reported) {
  add_cluster_program("echo $((7 + nodes))");
  process::child_result result = run({"bench", "fib", "--nodes", "2", "--json", "--repetitions", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find(
                "fib by sukima with 2 nodes of 1 worker, tcp: has the result '9', but sukima has '7'"),
            std::string::npos)
      << result.errors;
  EXPECT_EQ(lines_of(result.output).size(), 1U) << result.output;
  add_cluster_program("[ $nodes = 0 ] || exit 3; echo 7");
  result = run({"bench", "fib", "--nodes", "2", "--json", "--repetitions", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("ended with exit code 3"), std::string::npos) << result.errors;
}

TEST_F(bench_nodes, have_groups_with_a_quota) {
  if (const lab::group_home home = lab::make_group_home(); !home.obstacle.empty())
    GTEST_SKIP() << "control groups for CPU time cannot be made here";
  add_cluster_program("echo 7",
                      "echo in $(cat /proc/self/cgroup | grep -o 'node-[0-9]' | head -n 1) of $nodes >> " +
                          (folder / "log").string());
  const process::child_result result =
      run({"bench", "fib", "--nodes", "2", "--quota", "0.5", "--json", "--repetitions", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto calls = log();
  for (const char* call : {"in of 0", "in node-0 of 2", "in node-1 of 2"})
    EXPECT_EQ(std::ranges::count(calls, call), 1) << call;
  EXPECT_EQ(nlohmann::json::parse(lines_of(result.output).back()).at("scenario"), "tcp, 0.5 CPUs each");
}

TEST_F(bench_nodes, refuse_what_is_wrong) {
  expect_refused({"bench", "fib", "--nodes", "2"}, "--nodes needs the program bench-cluster");
  add_cluster_program();
  expect_refused({"bench", "fib", "--nodes", "0"}, "--nodes has '0': give numbers from 1 to 64");
  expect_refused({"bench", "--nodes", "2"}, "no benchmark was named");
  expect_refused({"bench", "lu", "--nodes", "2"}, "unknown benchmark 'lu': choose fib or uts");
  expect_refused({"bench", "fib", "--nodes", "2", "--workers", "1,2"}, "--workers has several numbers");
  expect_refused({"bench", "fib", "--nodes", "2", "--transport", "rdma"}, "choose tcp, openmpi or mpich");
  expect_refused({"bench", "fib", "--nodes", "2", "--peers", "tbb"}, "--peers has no meaning with --nodes");
  expect_refused({"bench", "fib", "--quota", "0.5"}, "--quota is for --nodes");
  expect_refused({"bench", "fib", "--nodes", "2", "--quota", "0"}, "--quota");
}

std::string why_not(const std::string& output, const std::string& errors, int nodes) {
  process::child_result result;
  result.output = output;
  result.errors = errors;
  const outcome read = parse_node_output(result, nodes);
  const auto* const failure = std::get_if<run_failure>(&read);
  return failure == nullptr ? "" : failure->reason;
}

TEST(node_output, has_the_result_once_or_of_all_nodes_and_a_line_of_each) {
  const std::string first = "0.5 s, 3 tasks given, 1 received; node 0: 1.0 s of CPU\n";
  const std::string second = "0.5 s, 3 tasks given, 1 received; node 1: 1.0 s of CPU\n";
  EXPECT_EQ(why_not("7\n", first, 0), "");
  EXPECT_EQ(why_not("7\n", first + second, 2), "");
  EXPECT_EQ(why_not("7\n7\n", "a warning\n" + second + first, 2), "") << "as an mpirun gives it";
  EXPECT_EQ(why_not("7\n8\n", first + second, 2), "has the result '7' on one node and '8' on another");
  EXPECT_EQ(why_not("", first + second, 2), "printed no result");
  EXPECT_EQ(why_not("7\n", first, 2), "1 of 2 nodes reported their time");
  EXPECT_EQ(why_not("7\n", second, 0), "1 of 1 nodes reported their time");
  EXPECT_EQ(why_not("7\n", first + "0.5 s, 3 tasks given, 1 received; node 1: fast\n", 2),
            "1 of 2 nodes reported their time");
}

}  // namespace
}  // namespace sukima::cli::bench
