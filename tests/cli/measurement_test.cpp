// SPDX-License-Identifier: Apache-2.0
// The meaning of the outputs of benchmark programs and external commands.
#include "bench/measurement.hpp"

#include <gtest/gtest.h>

namespace sukima::cli::bench {
namespace {

task fib_task() {
  task t;
  t.benchmark = "fib";
  t.size = 30;
  t.system = "tbb";
  t.compiler = "gcc";
  t.program = "/x/bench-tbb-gcc";
  t.workers = 2;
  t.scenario = "alone";
  return t;
}

std::string failure_of(const outcome& o) {
  const auto* failure = std::get_if<run_failure>(&o);
  return failure == nullptr ? "" : failure->reason;
}

TEST(program_output, is_one_json_line) {
  const outcome o = parse_program_output(
      R"({"benchmark":"fib","size":30,"seconds":0.5,"cpu_seconds":1.0,"result":"832040","bytes":4096})"
      "\n",
      fib_task());
  ASSERT_TRUE(std::holds_alternative<measurement>(o)) << failure_of(o);
  const auto& m = std::get<measurement>(o);
  EXPECT_DOUBLE_EQ(m.seconds, 0.5);
  EXPECT_DOUBLE_EQ(m.cpu_seconds, 1.0);
  EXPECT_EQ(m.size, 30);
  EXPECT_EQ(m.result, "832040");
  EXPECT_EQ(m.more, (std::map<std::string, double>{{"bytes", 4096}}));
}

struct bad_output {
  const char* text;
  const char* complaint;
};

void PrintTo(const bad_output& output, std::ostream* out) { *out << output.text; }

class bad_program_output : public testing::TestWithParam<bad_output> {};

TEST_P(bad_program_output, is_reported) {
  const std::string failure = failure_of(parse_program_output(GetParam().text, fib_task()));
  EXPECT_NE(failure.find(GetParam().complaint), std::string::npos) << "got: " << failure;
}

INSTANTIATE_TEST_SUITE_P(
    of_many_kinds, bad_program_output,
    testing::Values(bad_output{"", "not a JSON object"}, bad_output{"hello", "it printed: 'hello'"},
                    bad_output{"[1]", "not a JSON object"},
                    bad_output{"{\"benchmark\":\"fib\"", "not a JSON object"},
                    bad_output{"{}\n{}", "more than one line"},
                    bad_output{R"({"benchmark":"lu","seconds":1})", "'benchmark' is not 'fib'"},
                    bad_output{R"({"seconds":1})", "'benchmark' is not 'fib'"},
                    bad_output{R"({"benchmark":"fib"})", "no 'seconds'"},
                    bad_output{R"({"benchmark":"fib","seconds":-1})", "no 'seconds'"},
                    bad_output{R"({"benchmark":"fib","seconds":"1"})", "no 'seconds'"},
                    bad_output{R"({"benchmark":"fib","seconds":1e999})", "not a JSON object"},
                    bad_output{R"({"benchmark":"fib","seconds":1,"cpu_seconds":null})", "no 'cpu_seconds'"},
                    bad_output{R"({"benchmark":"fib","seconds":1,"size":"x"})", "'size' is not an integer"},
                    bad_output{R"({"benchmark":"fib","seconds":1,"size":31})", "ran size 31 instead of 30"}));

TEST(last_number, is_found_in_what_programs_print) {
  EXPECT_EQ(last_number("0.25\n"), 0.25);
  EXPECT_EQ(last_number("fib(42) = 267914296, time: 1.5e-3s\n"), 1.5e-3);
  EXPECT_EQ(last_number("8 workers\nElapsed .5 seconds."), 0.5);
  EXPECT_EQ(last_number("x -3"), -3);
  EXPECT_EQ(last_number("t=2-1"), -1);
  EXPECT_EQ(last_number("1.2.3"), 0.3);
}

TEST(last_number, is_missing_in_a_text_without_numbers) {
  EXPECT_EQ(last_number(""), std::nullopt);
  EXPECT_EQ(last_number("nan inf - . e5x"), 5);
  EXPECT_EQ(last_number("infinity and - and ."), std::nullopt);
}

TEST(fill_in, replaces_its_three_placeholders_only) {
  EXPECT_EQ(fill_in("./{benchmark} -n{size} -w {workers} {other} ${HOME}", fib_task()),
            "./fib -n30 -w 2 {other} ${HOME}");
  EXPECT_EQ(fill_in("awk '{print}' {", fib_task()), "awk '{print}' {");
}

TEST(request, of_a_program_names_benchmark_size_and_workers) {
  EXPECT_EQ(request_for(fib_task()).arguments,
            (std::vector<std::string>{"/x/bench-tbb-gcc", "fib", "--size", "30", "--workers", "2",
                                      "--repetitions", "1"}));
  task without_size = fib_task();
  without_size.size.reset();
  EXPECT_EQ(request_for(without_size).arguments,
            (std::vector<std::string>{"/x/bench-tbb-gcc", "fib", "--workers", "2", "--repetitions", "1"}));
}

TEST(request, of_a_command_goes_to_the_shell) {
  task t = fib_task();
  t.command = "run {size} | tail -1";
  const process::child_request request = request_for(t);
  EXPECT_EQ(request.arguments, (std::vector<std::string>{"/bin/sh", "-c", "run 30 | tail -1"}));
  EXPECT_EQ(request.environment.at(0), std::pair(std::string("SUKIMA_WORKERS"), std::string("2")));
}

TEST(judge, quotes_the_last_line_that_a_failing_program_said) {
  process::child_result result;
  result.exit_code = 3;
  result.errors = "starting\nwrong result 7, expected 8\n";
  EXPECT_EQ(failure_of(judge(result, fib_task(), std::chrono::seconds(1))),
            "ended with exit code 3; it printed: 'wrong result 7, expected 8'");
}

TEST(judge, distinguishes_a_stopped_run_from_other_failures) {
  process::child_result result;
  result.signal = 9;
  EXPECT_FALSE(std::get<run_failure>(judge(result, fib_task(), std::chrono::seconds(7))).stopped_after);
  result.timed_out = true;
  const outcome o = judge(result, fib_task(), std::chrono::seconds(7));
  EXPECT_EQ(std::get<run_failure>(o).stopped_after, 7.0);
  EXPECT_EQ(failure_of(o), "did not end within 7 s and was killed");
}

TEST(time_limit, is_shorter_for_peers_unless_the_user_says_one) {
  task t = fib_task();
  const auto limits = [&](const char* system) {
    t.system = system;
    return std::pair(time_limit_of(t, std::nullopt), time_limit_of(t, 0.5));
  };
  using namespace std::chrono_literals;
  EXPECT_EQ(limits("sequential"), std::pair(60'000'000'000ns, 500'000'000ns));
  EXPECT_EQ(limits("sukima"), std::pair(60'000'000'000ns, 500'000'000ns));
  EXPECT_EQ(limits("tbb"), std::pair(10'000'000'000ns, 500'000'000ns));
  EXPECT_EQ(limits("lace"), std::pair(10'000'000'000ns, 500'000'000ns));
}

TEST(judge, takes_the_seconds_of_a_command_from_its_output) {
  task t = fib_task();
  t.command = "x";
  process::child_result result;
  result.output = "0.75 s";
  result.cpu_seconds = 1.25;
  const outcome o = judge(result, t, std::chrono::seconds(1));
  ASSERT_TRUE(std::holds_alternative<measurement>(o));
  EXPECT_EQ(std::get<measurement>(o).seconds, 0.75);
  EXPECT_EQ(std::get<measurement>(o).cpu_seconds, 1.25);
  result.output = "done";
  EXPECT_NE(failure_of(judge(result, t, std::chrono::seconds(1))).find("printed no number on stdout"),
            std::string::npos);
  result.output = "-1";
  EXPECT_EQ(failure_of(judge(result, t, std::chrono::seconds(1))), "printed -1 as its seconds");
}

TEST(describe, says_which_actor_did_what) {
  EXPECT_EQ(describe(fib_task()), "fib by tbb (gcc) with 2 workers, alone");
}

}  // namespace
}  // namespace sukima::cli::bench
