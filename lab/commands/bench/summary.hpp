// SPDX-License-Identifier: Apache-2.0
// From the samples of all rows to the figures that are reported.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/scenario_ideal.hpp"
#include "bench/session.hpp"

namespace sukima::cli::bench {

/// The figures of one row that did not fail.
struct summary {
  task what;                            ///< with the size that the program ran, if it says so
  int repetitions;                      ///< that were measured
  quartiles seconds;
  double slowest;                       ///< seconds of the slowest repetition
  double cpu_seconds;                   ///< median
  std::optional<double> ratio;  ///< median over that of the sequential program in the same scenario
  std::optional<double> cpu_ratio;  ///< the same of the CPU seconds
  std::optional<double> own_ratio;  ///< Sukima's median over this one, with as many workers
  bool best_peer = false;  ///< no other peer is faster with as many workers in this scenario
  std::optional<ideal_figure> ideal;   ///< in a scenario with pressure, if it could be measured
  std::map<std::string, double> more;  ///< medians of further numbers that the program prints
  /// Of Sukima's rows: for each peer the median of Sukima's time over the peer's in the same round, with its
  /// 95 % bootstrap interval.
  std::map<std::string, interval> paired;
};

/// The figures of all rows without failure, in their order. Rows of several compilers are compared with rows
/// of the same compiler, or with the fastest there is where none is of the same one.
std::vector<summary> summarise(const std::vector<row>& rows);

/// A sentence for each row of Sukima whose slowest repetition took more than `factor` times the median.
std::vector<std::string> outliers(const std::vector<summary>& figures, double factor);

/// Sukima with one worker does at least this much of the sequential program's time: a program that can share
/// its work is not faster than one that need not.
inline constexpr double least_own_ratio = 0.97;

/// A sentence for each benchmark and compiler whose sequential program is not the best possible: of the
/// ratios of Sukima's time with one worker to the sequential program's in the same round, alone on the
/// machine, the median's whole 95 % bootstrap interval is below least_own_ratio. With fewer than five common
/// rounds there is no such interval, and no sentence.
std::vector<std::string> faults_of_sequential(const std::vector<row>& rows);

}  // namespace sukima::cli::bench
