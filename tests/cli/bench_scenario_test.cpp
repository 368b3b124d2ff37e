// SPDX-License-Identifier: Apache-2.0
// `sukima bench --scenario` with pretended benchmark programs and pretended busy loops.
#include <gtest/gtest.h>

#include "bench_command.hpp"

namespace sukima::cli::bench {
namespace {

class bench_scenario : public bench_command {
 protected:
  void add_programs_with_hog() {
    // NAME --size N --workers W --repetitions R
    const std::string repeat = "i=0; while [ $i -lt $7 ]; do answer 7; i=$((i + 1)); done";
    add_program("bench-sequential-gcc", "0.5", repeat);
    add_program("bench-sukima-gcc", "0.6", repeat);
    const fs::path hog = folder / "bin" / "bench-hog";
    std::ofstream(hog) << "#!/bin/sh\n"
                          "echo bench-hog \"$@\" >> "
                       << (folder / "log")
                       << "\n[ \"$1\" = --loops ] && echo '{\"seconds\":1.0,\"cpu_seconds\":1.6}'\n";
    fs::permissions(hog, fs::perms::owner_all);
  }
};

TEST_F(bench_scenario, together_starts_four_processes_and_knows_the_ideal) {
  add_programs_with_hog();
  const process::child_result result = run({"bench", "fib", "--json", "--scenario", "together",
                                            "--repetitions", "1", "--workers", "2", "--peers", "none"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto calls = log();
  // 0.6 s are too short: the first run finds out that the work must be repeated.
  for (const char* call : {"bench-sukima-gcc fib --size 40 --workers 2 --repetitions 1 --started",
                           "bench-sukima-gcc fib --size 40 --workers 2 --repetitions 3 --started"}) {
    EXPECT_EQ(std::ranges::count(calls, call), 4) << call;
  }
  EXPECT_EQ(std::ranges::count(calls, "bench-hog --loops 2 --seconds 1"), 1);
  const auto rows = rows_of(result);
  EXPECT_EQ(rows.size(), 2U);  // the sequential program alone is for the ideal only
  const nlohmann::json& row = rows.at("sukima 2 together");
  EXPECT_DOUBLE_EQ(row.at("seconds").at("median"), 0.6);
  EXPECT_DOUBLE_EQ(row.at("cpu_seconds"), 2.4);
  EXPECT_DOUBLE_EQ(row.at("cpus"), 1.6);
  EXPECT_DOUBLE_EQ(row.at("ideal"), 1.25);  // four times 0.5 s on 1.6 CPUs
  EXPECT_DOUBLE_EQ(row.at("over_ideal").at("ratio"), 0.48);
  EXPECT_DOUBLE_EQ(row.at("own_ideal"), 1.5);  // four times 0.6 s
  EXPECT_DOUBLE_EQ(row.at("over_own_ideal").at("ratio"), 0.4);
}

TEST_F(bench_scenario, that_needs_busy_loops_is_left_out_without_them) {
  add_usual_programs();
  const process::child_result result = run({"bench", "fib", "--json", "--scenario", "together,alone",
                                            "--repetitions", "1", "--workers", "2", "--peers", "none"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(lines_of(result.errors).size(), 1U) << result.errors;
  EXPECT_NE(result.errors.find("bench-hog"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("left out: together"), std::string::npos) << result.errors;
  const auto rows = rows_of(result);
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows.contains("sukima 2 alone"));
}

TEST_F(bench_command, fails_if_a_repetition_of_sukima_takes_longer_than_worst_allows) {
  add_usual_programs();
  const std::string first = (folder / "first").string();
  add_program("bench-sukima-gcc",
              "$(if [ -e " + first + " ]; then echo 0.6; else touch " + first + "; echo 1.2; fi)");
  const auto with = [&](const std::string& factor) {
    fs::remove(folder / "first");
    return run(
        {"bench", "fib", "--repetitions", "3", "--workers", "2", "--peers", "none", "--worst", factor});
  };
  const process::child_result bad = with("1.5");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.errors.find("the slowest of 3 repetitions took 2.00 times the median"), std::string::npos)
      << bad.errors;
  EXPECT_NE(bad.output.find("max / median"), std::string::npos) << bad.output;
  const process::child_result good = with("2.5");
  EXPECT_EQ(good.exit_code, 0) << good.errors;
  fs::remove(folder / "log");
  expect_refused({"bench", "fib", "--worst", "0.5"}, "--worst");
}

}  // namespace
}  // namespace sukima::cli::bench
