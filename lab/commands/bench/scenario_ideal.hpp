// SPDX-License-Identifier: Apache-2.0
// The ideal of a scenario: the time of a perfect scheduler for the work of the sequential program on the CPU
// actually available.
#pragma once

#include <optional>
#include <vector>

#include "bench/session.hpp"
#include "shared/statistics.hpp"

namespace sukima::cli::bench {

using lab::bootstrap_median, lab::interval, lab::median_of, lab::quartiles, lab::quartiles_of,
    lab::round_significant;

/// The ideal made of the work of Sukima with one worker.
struct own_ideal_figure {
  double seconds;  ///< median of the rounds
  interval over;   ///< as in ideal_figure
};

/// The ideal for one row.
struct ideal_figure {
  quartiles seconds;  ///< of the rounds
  double cpus;        ///< median of the CPU seconds per second actually available
  int loops;          ///< busy loops that measured it
  /// Median of the row's time over the ideal of the same round, with its 95 % bootstrap interval.
  interval over;
  std::optional<own_ideal_figure> own{};  ///< nothing if Sukima did not run with one worker, alone
};

/// The additional tasks of one benchmark for its ideals: in each scenario with pressure, busy loops in the
/// program's place, as many as workers of a task but no more than CPUs (one, where the work is sequential);
/// and the sequential programs and Sukima with one worker, alone, if they are not among the tasks.
std::vector<task> tasks_for_ideals(const std::vector<task>& tasks, int cpus);

/// The ideal for a row of a parallel program, from the rounds in which it, the busy loops and the sequential
/// program alone (the one of the same compiler, or the fastest) were measured. Nothing for the sequential
/// program, and without these measurements.
std::optional<ideal_figure> ideal_of(const row& of, const std::vector<row>& rows);

}  // namespace sukima::cli::bench
