// SPDX-License-Identifier: Apache-2.0
// What a person reads of runs: tables, verdicts, and the figures that are drawn.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "folder.hpp"

namespace sukima::lab {

/// A page in Markdown: for each experiment a table of medians with quartiles, a table of measured by target
/// time with the worst of each row where there are baselines, the claims with their verdicts, and what
/// failed. The same for the same folder. O(runs · log runs · resamples).
std::string report_text(const recorded_runs& runs);

/// The same as JSON: machine, experiments[] with cells[] (q1, median, q3, rounds; null if a run was stopped)
/// and claims[].
nlohmann::ordered_json report_json(const recorded_runs& runs);

/// The same as one page of HTML: for each experiment its claims, the paper's figure beside ours and the
/// verdict, with a heat map of three cells or more; bars of each program, and a table of the cells. It needs
/// no other file and no network. The same for the same folder. O(as report_text).
std::string report_html(const recorded_runs& runs);

/// The list of experiments, one line each.
std::string list_text(const std::vector<experiment>& all);
nlohmann::ordered_json list_json(const std::vector<experiment>& all);

/// What a run would do: the number of runs of each experiment, of which `done` are in the folder, how
/// long the others are expected to take (by the runs that are done, else by the programs' times alone), and
/// the most that they can take (each until its time limit); its environments with their CPUs, and what a
/// machine with so many CPUs does in another way than the paper's. O(runs · done).
std::string plan_text(const std::vector<experiment>& all, const run_choice& choice,
                      const std::vector<record>& done, unsigned cpus);

/// "3 s", "12 min", "1 h 5 min".
std::string duration_text(double seconds);

}  // namespace sukima::lab
