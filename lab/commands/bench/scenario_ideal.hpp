// SPDX-License-Identifier: Apache-2.0
// The ideal of a scenario: the time that a perfect scheduler needs for the work of the sequential program on
// the CPU that is actually available.
#pragma once

#include <optional>
#include <vector>

#include "bench/session.hpp"
#include "shared/statistics.hpp"

namespace sukima::cli::bench {

using lab::bootstrap_median, lab::interval, lab::median_of, lab::quartiles, lab::quartiles_of,
    lab::round_significant;

/// The ideal computed from the work of Sukima with one worker.
struct own_ideal_figure {
  double seconds;  ///< median of the rounds
  interval over;   ///< as in ideal_figure
};

/// The ideal for one row.
struct ideal_figure {
  quartiles seconds;  ///< of the rounds
  double cpus;        ///< median of the CPU seconds per second actually available
  int loops;          ///< number of busy loops that measured `cpus`
  /// Median of the row's time divided by the ideal of the same round, with its 95 % bootstrap interval.
  interval over;
  std::optional<own_ideal_figure> own{};  ///< nothing if Sukima did not run with one worker, alone
};

/// The additional tasks of one benchmark for its ideals:
/// - in each scenario with pressure, busy loops instead of the program: one for each worker of a task, at
///   most one for each CPU, and a single one for sequential work
/// - alone, the sequential programs and Sukima with one worker, if they are not among the tasks
std::vector<task> tasks_for_ideals(const std::vector<task>& tasks, int cpus);

/// Computes the ideal for a row of a parallel program. Uses the rounds with measurements of the row, of the
/// busy loops, and of the sequential program alone (by the same compiler, or the fastest). Nothing for the
/// sequential program, or without these measurements.
std::optional<ideal_figure> ideal_of(const row& of, const std::vector<row>& rows);

}  // namespace sukima::cli::bench
