// SPDX-License-Identifier: Apache-2.0
// Slow programs under `sukima bench`: a peer that takes too long is left out, and does not delay the others.
#include "bench_command.hpp"

#include <algorithm>

namespace sukima::cli::bench {
namespace {

/// How often the calls of a program with so many workers are in the log.
auto runs_of(const std::vector<std::string>& log, const std::string& program, int workers) {
  const std::string number = " --workers " + std::to_string(workers) + " ";
  return std::count_if(log.begin(), log.end(), [&](const std::string& call) {
    return call.starts_with(program) && call.find(number) != std::string::npos;
  });
}

/// A run, and the seconds that its programs had.
struct limited_run {
  process::child_result result;
  std::string seconds;
};

class bench_time_limit : public bench_command {
 protected:
  /// Runs with a time limit that stops the programs `hanging`. Another program that gets no CPU during that
  /// time is stopped, too; then the whole run is repeated with twice the time.
  limited_run run_limited(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& hanging) const {
    const auto is_right = [&](const std::string& line) {
      const bool stopped = line.find("stopped after") != std::string::npos ||
                           line.find("did not end within") != std::string::npos;
      return !stopped || std::ranges::any_of(hanging, [&](const std::string& name) {
        return line.find(name) != std::string::npos;
      });
    };
    for (int seconds = 2;; seconds *= 2) {
      fs::remove(folder / "log");
      std::vector<std::string> all = arguments;
      all.insert(all.end(), {"--time-limit", std::to_string(seconds)});
      const process::child_result result = run(all);
      if (std::ranges::all_of(lines_of(result.errors + result.output), is_right))
        return {result, std::to_string(seconds)};
    }
  }
};

TEST_F(bench_command, cuts_slow_peers_short) {
  add_usual_programs();
  add_program("bench-tbb-gcc", "3.0");
  const auto runs_of_tbb = [&](const std::vector<std::string>& option) {
    std::vector<std::string> arguments{"bench",     "fib", "--repetitions", "4",
                                       "--workers", "2",   "--peers",       "tbb"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    const process::child_result result = run(arguments);
    EXPECT_EQ(result.exit_code, 0);
    const std::string note = "fib by tbb (gcc) with 2 workers, alone: ";
    const std::size_t found = result.output.find(note);
    return found == std::string::npos ? std::string("4") : result.output.substr(found + note.size(), 1);
  };
  EXPECT_EQ(runs_of_tbb({}), "2");
  EXPECT_EQ(runs_of_tbb({"--peer-time", "9"}), "3");
  EXPECT_EQ(runs_of_tbb({"--peer-time", "0"}), "4");
}

TEST_F(bench_time_limit, leaves_out_a_peer_that_does_not_end) {
  add_usual_programs();
  add_program("bench-tbb-gcc", "1.2", "sleep 1000");
  const auto [result, seconds] = run_limited(
      {"bench", "fib", "--json", "--repetitions", "3", "--workers", "2", "--peers", "tbb,rayon"}, {"by tbb"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors,
            "sukima bench: fib by tbb (gcc) with 2 workers, alone: stopped after " + seconds + " s\n");
  const auto rows = rows_of(result);
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_FALSE(rows.contains("tbb 2 alone"));
  EXPECT_EQ(runs_of(log(), "bench-tbb-gcc", 2), 1);
}

TEST_F(bench_time_limit, notes_below_the_table_which_peer_was_stopped) {
  add_usual_programs();
  const auto [result, seconds] = run_limited({"bench", "fib", "--repetitions", "2", "--workers", "2",
                                              "--peers", "rayon", "--external", "lace=sleep 1000"},
                                             {"by lace"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_NE(result.output.find("\n* rayon (rustc) "), std::string::npos) << result.output;
  EXPECT_TRUE(
      result.output.ends_with("\n  fib by lace with 2 workers, alone: stopped after " + seconds + " s\n"))
      << result.output;
}

TEST_F(bench_time_limit, does_not_try_a_stopped_peer_with_more_workers) {
  add_usual_programs();
  add_program("bench-tbb-gcc", "1.2", "[ $5 -gt 1 ] && sleep 1000; answer 7");
  add_program("bench-rayon", "0.9", "sleep 1000");
  const auto [result, seconds] = run_limited(
      {"bench", "fib", "--json", "--repetitions", "2", "--workers", "4,2,1", "--scenario",
       "alone,overworked"},
      {"tbb (gcc) with 2 ", "tbb (gcc) with 8 ", "rayon (rustc) with 1 ", "rayon (rustc) with 8 "});
  const std::string stopped = "stopped after " + seconds + " s";
  EXPECT_EQ(result.exit_code, 0);
  for (const std::string& line :
       {"fib by tbb (gcc) with 2 workers, alone: " + stopped + "; not tried with more workers\n",
        "fib by tbb (gcc) with 8 workers, overworked: " + stopped + "\n",
        "fib by rayon (rustc) with 1 worker, alone: " + stopped + "; not tried with more workers\n",
        "fib by rayon (rustc) with 8 workers, overworked: " + stopped + "\n"}) {
    EXPECT_NE(result.errors.find(line), std::string::npos) << line << "not in:\n" << result.errors;
  }
  const auto rows = rows_of(result);
  EXPECT_EQ(rows.size(),
            1U + 3U + 1U + 1U + 1U);  // sequential, Sukima and tbb alone; the first two overworked
  EXPECT_TRUE(rows.contains("tbb 1 alone"));
  const auto calls = log();
  EXPECT_EQ(runs_of(calls, "bench-tbb-gcc", 1), 2);
  EXPECT_EQ(runs_of(calls, "bench-tbb-gcc", 2), 1);
  EXPECT_EQ(runs_of(calls, "bench-tbb-gcc", 4), 0);
  EXPECT_EQ(runs_of(calls, "bench-rayon", 1), 1);
  EXPECT_EQ(runs_of(calls, "bench-rayon", 2) + runs_of(calls, "bench-rayon", 4), 0);
}

TEST_F(bench_time_limit, leaves_out_a_peer_that_is_stopped_while_its_compiler_is_chosen) {
  add_usual_programs();
  add_program("bench-tbb-gcc", "1.2", "sleep 1000");
  add_program("bench-tbb-clang", "1.2", "sleep 1000");
  const auto [result, seconds] = run_limited(
      {"bench", "fib", "--json", "--repetitions", "2", "--workers", "1,2", "--peers", "tbb"}, {"by tbb"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "sukima bench: fib by tbb (gcc) with 1 worker, alone: stopped after " + seconds +
                               " s; not tried with more workers\n");
  EXPECT_EQ(rows_of(result).size(), 3U);
  EXPECT_EQ(std::ssize(log()), 2 * 3 + 1) << "the other compiler's program is no faster by an order";
}

TEST_F(bench_time_limit, fails_if_sukima_or_the_sequential_program_does_not_end) {
  for (const char* system : {"sequential", "sukima"}) {
    add_usual_programs();
    add_program(std::string("bench-") + system + "-gcc", "1", "sleep 1000");
    const auto [result, seconds] =
        run_limited({"bench", "fib", "--json", "--repetitions", "2", "--workers", "1", "--peers", "tbb"},
                    {std::string("by ") + system + " "});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.errors, std::string("sukima: fib by ") + system +
                                 " (gcc) with 1 worker, alone: did not end within " + seconds +
                                 " s and was killed\n");
    EXPECT_EQ(rows_of(result).size(), 2U);
  }
}

}  // namespace
}  // namespace sukima::cli::bench
