// SPDX-License-Identifier: Apache-2.0
// Tuned programs under `sukima bench`, whose cut-off depth it searches for; and its check of the sequential
// program.
#include "bench_command.hpp"

#include <algorithm>

namespace sukima::cli::bench {
namespace {

class bench_command_with_tuned_programs : public bench_command {
 protected:
  void SetUp() override {
    bench_command::SetUp();
    listed = "nqueens lu";
    add_program("bench-sequential-gcc", "0.5");
    add_program("bench-sukima-gcc", "0.6");
    // With one worker no level should fork, with two workers two of them, and with more four.
    const std::string body =
        "depth=none; workers=1\n"
        "while [ $# -gt 0 ]; do case $1 in --depth) depth=$2;; --workers) workers=$2;; esac; shift; done\n"
        "case $workers in 1) best=0;; 2) best=2;; *) best=4;; esac\n"
        "if [ $depth = none ]; then seconds=1.2; else\n"
        "  away=$((depth > best ? depth - best : best - depth)); seconds=0.$((70 + away))\n"
        "fi\n";
    add_program("bench-tbb-gcc", "0", body + "answer 7");
    add_program("bench-tbb-clang", "0", body + "seconds=1${seconds#0}; answer 7");
  }
};

TEST_F(bench_command_with_tuned_programs, show_tuned_and_untuned_ones_with_the_depth_that_was_found) {
  const process::child_result result = run({"bench", "nqueens", "--json", "--scenario", "alone,overworked",
                                            "--repetitions", "2", "--workers", "1,2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto rows = rows_of(result);
  EXPECT_EQ(rows.at("tbb-tuned 1 alone").at("depth"), 0);
  EXPECT_EQ(rows.at("tbb-tuned 2 alone").at("depth"), 2);
  EXPECT_EQ(rows.at("tbb-tuned 8 overworked").at("depth"), 4);
  EXPECT_EQ(rows.at("tbb-tuned 2 alone").at("compiler"), "gcc");
  EXPECT_DOUBLE_EQ(rows.at("tbb-tuned 2 alone").at("seconds").at("median"), 0.7);
  EXPECT_DOUBLE_EQ(rows.at("tbb 2 alone").at("seconds").at("median"), 1.2);
  EXPECT_FALSE(rows.at("tbb 2 alone").contains("depth"));
  EXPECT_DOUBLE_EQ(rows.at("sukima 2 alone").at("paired").at("tbb-tuned").at("ratio"), 0.857143);
  const std::vector<std::string> calls = log();
  const auto with_clang = std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
    return call.starts_with("bench-tbb-clang") && call.find("--depth") != std::string::npos;
  });
  EXPECT_EQ(with_clang, 6) << "twice at depths 0, 1 and 2 with one worker";
}

TEST_F(bench_command_with_tuned_programs, show_the_depth_in_the_table_and_in_csv) {
  const fs::path file = folder / "result.csv";
  const process::child_result result = run({"bench", "nqueens", "--repetitions", "1", "--workers", "2",
                                            "--compiler", "gcc", "--csv", file.string()});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  std::vector<std::string> table;
  for (const std::string& line : lines_of(result.output)) {
    if (line.starts_with("  system ") || line.find("tbb") != std::string::npos) table.push_back(line);
  }
  ASSERT_EQ(table.size(), 3U) << result.output;
  EXPECT_TRUE(table[0].ends_with("  depth")) << table[0];
  EXPECT_TRUE(table[1].ends_with("  -")) << table[1];
  EXPECT_TRUE(table[2].starts_with("* tbb-tuned (gcc) ") && table[2].ends_with("  2")) << table[2];
  std::ifstream stream(file);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  EXPECT_NE(text.find(",ratio,depth\n"), std::string::npos) << text;
  EXPECT_NE(text.find("nqueens,14,tbb-tuned,gcc,alone,2,1,0.7,0.7,0.7,0.7,1.4,2\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("nqueens,14,tbb,gcc,alone,2,1,1.2,1.2,1.2,1.2,2.4,\n"), std::string::npos) << text;
}

TEST_F(bench_command_with_tuned_programs, are_left_out_of_other_benchmarks) {
  const process::child_result result =
      run({"bench", "lu", "--json", "--repetitions", "1", "--workers", "2", "--peers", "tbb,tbb-tuned"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  EXPECT_FALSE(rows_of(result).contains("tbb-tuned 2 alone"));
}

TEST_F(bench_command_with_tuned_programs, fail_by_a_wrong_result_at_the_depth_that_was_found) {
  add_program("bench-tbb-gcc", "0.7", "case \"$*\" in *--depth*) answer 8;; *) answer 7;; esac");
  const process::child_result result = run({"bench", "nqueens", "--json", "--repetitions", "1", "--workers",
                                            "2", "--compiler", "gcc", "--peers", "tbb,tbb-tuned"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(
      result.errors.find("nqueens by tbb-tuned (gcc) at depth 0 with 2 workers, alone: has the result '8', "
                         "but sequential has '7'"),
      std::string::npos)
      << result.errors;
  EXPECT_TRUE(rows_of(result).contains("tbb 2 alone"));
}

TEST_F(bench_command_with_tuned_programs, fail_once_if_they_do_not_run) {
  add_program("bench-tbb-gcc", "0.7", "case \"$*\" in *--depth*) exit 3;; *) answer 7;; esac");
  const process::child_result result = run({"bench", "nqueens", "--json", "--repetitions", "2", "--workers",
                                            "2", "--compiler", "gcc", "--peers", "tbb,tbb-tuned"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines_of(result.errors).size(), 1U) << result.errors;
  EXPECT_NE(result.errors.find("at depth 0 with 2 workers, alone: ended with exit code 3"), std::string::npos)
      << result.errors;
  EXPECT_EQ(rows_of(result).size(), 3U);
}

TEST_F(bench_command, fails_if_the_sequential_program_is_not_the_best_possible) {
  add_program("bench-sequential-gcc", "0.5");
  add_program("bench-sukima-gcc", "0.4");
  const auto result_of = [&](const char* repetitions, const char* workers) {
    return run({"bench", "fib", "--peers", "none", "--repetitions", repetitions, "--workers", workers});
  };
  const process::child_result result = result_of("5", "1");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(
      result.errors,
      "sukima: the sequential program of fib is not the best possible: Sukima with one worker takes 0.800 "
      "[0.800, 0.800] of its time, and should take 0.97 or more\n");
  EXPECT_NE(result.output.find("sukima (gcc)"), std::string::npos) << "the figures are printed nevertheless";
  EXPECT_EQ(result_of("4", "1").exit_code, 0) << "too few rounds for an interval";
  EXPECT_EQ(result_of("5", "2").exit_code, 0) << "two workers may be faster";
}

TEST_F(bench_command, accepts_a_sequential_program_that_may_be_the_best_possible) {
  add_program("bench-sequential-gcc", "0.5");
  // Every second run is much faster: the median's interval reaches above the bound.
  add_program("bench-sukima-gcc", "0.5",
              "echo x >> '" + (folder / "runs").string() +
                  "'\n"
                  "[ $(( $(wc -l < '" +
                  (folder / "runs").string() +
                  "') % 2 )) = 0 ] && seconds=0.3\n"
                  "answer 7");
  EXPECT_EQ(run({"bench", "fib", "--peers", "none", "--repetitions", "9", "--workers", "1"}).exit_code, 0);
  add_program("bench-sukima-gcc", "0.49");
  EXPECT_EQ(run({"bench", "fib", "--peers", "none", "--repetitions", "5", "--workers", "1"}).exit_code, 0);
}

}  // namespace
}  // namespace sukima::cli::bench
