// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of one benchmark in interleaved rounds, and checks that their results agree.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/measurement.hpp"

namespace sukima::cli::bench {

/// One measurement and its round. Measurements of one round are paired.
struct sample {
  int round;
  measurement measured;
};

/// All measurements of one task. A row without samples and without a failure was left out, because the peer
/// exceeded its time limit with fewer workers.
struct row {
  bench::task task;
  std::vector<sample> samples;
  std::optional<std::string> failure;     ///< reason why the row has no figures, as in run_failure
  std::optional<double> stopped_after{};  ///< seconds of the limit that a peer exceeded; not a failure
};

/// Returns the median of a row's seconds.
double median_seconds(const row& r);

struct round_settings {
  int repetitions = 5;
  double peer_seconds = 0;  ///< time after which a slow peer is not run again; 0: no limit
  std::uint64_t seed = 1;  ///< of the orders of the rounds
};

/// Runs one task to its end.
using task_runner = std::function<outcome(const task&)>;

/// Called before each run with the task, the number of ended runs, and the total number if no row ends early.
using run_observer = std::function<void(const task&, std::size_t done, std::size_t total)>;

/// Runs every task once in each round, in an order that is shuffled again for each round.
/// - A task that fails is not run again.
/// - A slow peer is not run again after it has used its time. Its runs take over two seconds, and over three
///   times as long as those of the sequential program.
/// - A peer that exceeds its time limit has not failed. Its row has no samples, and the peer is not run any
///   more with as many workers or more in that scenario. So the first round runs each system with fewer
///   workers first. The rows have the order of the tasks.
std::vector<row> run_rounds(const std::vector<task>& tasks, const round_settings& settings,
                            const task_runner& run, const run_observer& observe);

/// Returns the position of the fastest of several tasks, which are the same benchmark by programs of
/// different compilers. The better of two runs counts; if the first runs are long, there is only one.
/// Failures are passed to `failed`, by position. \returns nothing if all fail. It also returns nothing if a
/// peer's first program exceeds the time limit; then it does not try the others
std::optional<std::size_t> choose_fastest(const std::vector<task>& candidates, const task_runner& run,
                                          const std::function<void(std::size_t, const run_failure&)>& failed);

/// Returns one line for each peer that exceeded its time limit: "fib by tbb (gcc) with 1 worker, alone:
/// stopped after 10 s; not tried with more workers".
std::vector<std::string> notes_on_stopped(const std::vector<row>& rows);

/// The same line for one task.
std::string note_on_stopped(const task& task, double seconds, bool more_left_out);

/// Marks rows as failed if their result or size differs from the sequential program's. Without a sequential
/// program, the result of most rows counts.
void check_results(std::vector<row>& rows);

}  // namespace sukima::cli::bench
