// SPDX-License-Identifier: Apache-2.0
// The figures of `sukima bench --nodes --hope`, and their table.
#pragma once

#include <string>
#include <vector>

#include "bench/hope_scenarios.hpp"
#include "bench/summary.hpp"

namespace sukima::cli::bench {

/// The figures of the rows of hope_tasks() that did not fail. `paired` has the ratio of a scenario to its
/// reference in the same round: of "none" to stealing, of "alone" to one process or node, of "kill-K" to
/// `allowed_reference`; `ratio` is its median. `cpu_ratio`, and `work` in `more`: the work that all nodes
/// have done over that of the sequential row in the same round, in CPU time, as a median. `lost_ms`, with
/// `lost_ms_low` and `lost_ms_high`: of a "kill-K", milliseconds of CPU time more than without a death, for
/// each death and each worker of a node. Figures that depend on a failed row are missing.
std::vector<summary> hope_figures(const std::vector<row>& rows, const node_cpus& cpus);

/// allowed_time::with() the deaths of the round, of one_process_row or its like and of stealing_row.
inline constexpr const char* allowed_reference = "what the living nodes' CPUs allow";

/// \param heading  its first line
std::string hope_table(const std::vector<summary>& figures, const std::string& heading, bool colour);

}  // namespace sukima::cli::bench
