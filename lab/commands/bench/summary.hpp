// SPDX-License-Identifier: Apache-2.0
// Computes the reported figures from the samples of all rows.
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
  bench::task task;                            ///< with the size that the program printed, if any
  int repetitions;                      ///< number of measured repetitions
  quartiles seconds;
  double slowest;                       ///< seconds of the slowest repetition
  double cpu_seconds;                   ///< median
  std::optional<double> ratio;  ///< median divided by the sequential program's in the same scenario
  std::optional<double> cpu_ratio;  ///< the same of the CPU seconds
  std::optional<double> own_ratio;  ///< Sukima's median over this one, with as many workers
  bool best_peer = false;  ///< no other peer is faster with as many workers in this scenario
  std::optional<ideal_figure> ideal;   ///< in a scenario with pressure, if it could be measured
  std::map<std::string, double> more;  ///< medians of further numbers that the program prints
  /// In Sukima's rows, for each peer: the median of Sukima's time divided by the peer's in the same round,
  /// with its 95 % bootstrap interval.
  std::map<std::string, interval> paired;
};

/// Computes the figures of all rows without failure, in their order. A row is compared with a row of the same
/// compiler, or otherwise with the fastest one.
std::vector<summary> summarise(const std::vector<row>& rows);

/// Returns a sentence for each row of Sukima whose slowest repetition took more than `factor` times the
/// median.
std::vector<std::string> outliers(const std::vector<summary>& figures, double factor);

/// Least ratio of the time of Sukima with one worker to that of the sequential program. A program that can
/// share its work is not faster than one that never does.
inline constexpr double least_own_ratio = 0.97;

/// Returns sentences about sequential programs that are not the best possible, one for each benchmark and
/// compiler. It compares Sukima with one worker to the sequential program in the same round, alone on the
/// machine. A program is not the best possible if the whole 95 % bootstrap interval of the median ratio is
/// below least_own_ratio. At least five common rounds are necessary.
std::vector<std::string> faults_of_sequential(const std::vector<row>& rows);

}  // namespace sukima::cli::bench
