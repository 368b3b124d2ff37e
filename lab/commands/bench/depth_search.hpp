// SPDX-License-Identifier: Apache-2.0
// Finds the best cut-off depths of tuned programs, before the rounds.
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "bench/plan.hpp"
#include "bench/session.hpp"

namespace sukima::cli::bench {

/// A cut-off depth of a tuned program, and the seconds of its better run.
struct depth_choice {
  int depth;
  double seconds;
};

/// Finds the best cut-off depth of a tuned program. Runs the task at depth 0, 1, … until two depths in
/// succession do not improve the best one. A depth is run twice, or once if that takes seconds. A run that
/// exceeds its time limit is not an improvement. Any other failure is passed to `failed` and ends the search.
/// \returns nothing if no depth works
std::optional<depth_choice> choose_depth(const task& tuned, const task_runner& run,
                                         const std::function<void(const task&, const run_failure&)>& failed);

/// Sets the depths of a tuned contender's programs for each of the numbers of workers. `task_of` makes the
/// tasks. With `one_compiler`, only the program that is fastest with the fewest workers remains. Failures are
/// passed to `failed`. A program that works at no depth gets none. \pre there is at least one number of
/// workers
void choose_depths(contender& tuned, const std::set<int>& workers, bool one_compiler,
                   const std::function<task(const program&, int workers)>& task_of, const task_runner& run,
                   const std::function<void(const task&, const run_failure&)>& failed);

}  // namespace sukima::cli::bench
