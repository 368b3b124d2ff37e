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

/// One measurement and the round that it belongs to. Measurements of one round are paired.
struct sample {
  int round;
  measurement measured;
};

/// All measurements of one task. Without any, and without a failure, it was not tried because the peer did
/// not end in time with fewer workers.
struct row {
  task what;
  std::vector<sample> samples;
  std::optional<std::string> failure;     ///< why it has no figures, as in run_failure
  std::optional<double> stopped_after{};  ///< seconds of the limit that a peer ran into, which is no failure
};

/// The median of a row's seconds.
double median_seconds(const row& r);

struct round_settings {
  int repetitions = 5;
  double peer_seconds = 0;  ///< a slow peer that has used this much time is not run again; 0: no limit
  std::uint64_t seed = 1;  ///< of the order in each round
};

/// Runs one task to its end.
using task_runner = std::function<outcome(const task&)>;

/// Called before each run with the task, the number of runs that ended before it, and the total if no row
/// ends early.
using run_observer = std::function<void(const task&, std::size_t done, std::size_t total)>;

/// Runs every task once in each round, in an order that is shuffled anew for each round. A task that fails is
/// not run again, nor is a slow peer that has used its time: one whose runs take over two seconds and over
/// three times as long as the sequential program's. A peer that does not end within its time limit is not a
/// failure: its row has no samples, and it is not run any more with as many workers or more in that scenario;
/// therefore the first round runs each system in the order of the numbers of workers. The rows come in the
/// order of the tasks.
std::vector<row> run_rounds(const std::vector<task>& tasks, const round_settings& settings,
                            const task_runner& run, const run_observer& observe);

/// Which of the tasks, the same benchmark by programs of different compilers, is fastest, by the better of
/// two runs each (of one, if the first ones are long). Failures go to `failed`, by position. Empty if all
/// fail, or if a peer's first program does not end within the time limit: the others are then not tried.
std::optional<std::size_t> choose_fastest(const std::vector<task>& candidates, const task_runner& run,
                                          const std::function<void(std::size_t, const run_failure&)>& failed);

/// One line for each peer that was stopped at its time limit: "fib by tbb (gcc) with 1 worker, alone: stopped
/// after 10 s; not tried with more workers".
std::vector<std::string> notes_on_stopped(const std::vector<row>& rows);

/// That line for one task that was stopped.
std::string note_on_stopped(const task& what, double seconds, bool more_left_out);

/// Marks every row as failed whose results are not those of the sequential program or, without one, of most
/// rows, and every row that ran another size than that one.
void check_results(std::vector<row>& rows);

}  // namespace sukima::cli::bench
