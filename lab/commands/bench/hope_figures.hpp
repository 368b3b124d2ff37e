// SPDX-License-Identifier: Apache-2.0
// The figures of `sukima bench --nodes --hope`, and their table.
#pragma once

#include <string>
#include <vector>

#include "bench/hope_scenarios.hpp"
#include "bench/summary.hpp"

namespace sukima::cli::bench {

/// Computes the figures of the rows of hope_tasks() that did not fail. Figures that depend on a failed row
/// are missing.
/// - `paired`: the ratio of a scenario to its reference in the same round. The reference of "none" is
///   stealing, that of "alone" is one process or node, that of "kill-K" is `allowed_reference`. `ratio` is
///   the median.
/// - `cpu_ratio`, and `work` in `more`: the CPU time of all nodes divided by that of the sequential row in
///   the same round, as a median.
/// - `lost_ms`, `lost_ms_low` and `lost_ms_high` of "kill-K": additional milliseconds of CPU time for each
///   death and each worker of a node, compared with runs without a death.
std::vector<summary> hope_figures(const std::vector<row>& rows, const node_cpus& cpus);

/// allowed_time::with() for the deaths of the round, with the times of one_process_row or a similar row and
/// of stealing_row.
inline constexpr const char* allowed_reference = "what the living nodes' CPUs allow";

/// Formats the figures as a table. \param heading its first line
std::string hope_table(const std::vector<summary>& figures, const std::string& heading, bool colour);

}  // namespace sukima::cli::bench
