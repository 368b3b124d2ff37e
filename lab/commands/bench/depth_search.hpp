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

/// The best cut-off depth of a tuned program: runs the task at depth 0, 1, … (each twice, once where that
/// takes seconds), until two depths in succession are no better than the best one before. A depth at which
/// the program does not end within its time limit is no better. Another failure goes to `failed` and ends the
/// search. Empty if no depth works.
std::optional<depth_choice> choose_depth(const task& what, const task_runner& run,
                                         const std::function<void(const task&, const run_failure&)>& failed);

/// Sets the depths of a tuned contender's programs for each of those numbers of workers, of which there is at
/// least one; `task_of` makes the tasks. With `one_compiler` only the program stays that is fastest with the
/// fewest workers. Failures go to `failed`; what does not work at any depth gets none.
void choose_depths(contender& tuned, const std::set<int>& workers, bool one_compiler,
                   const std::function<task(const program&, int workers)>& task_of, const task_runner& run,
                   const std::function<void(const task&, const run_failure&)>& failed);

}  // namespace sukima::cli::bench
