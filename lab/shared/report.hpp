// SPDX-License-Identifier: Apache-2.0
// Reports of runs for people: tables, verdicts, and the figures for plots.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "folder.hpp"

namespace sukima::lab {

/// Returns a page in Markdown. Each experiment has a table of medians with quartiles, a table of measured
/// times divided by target times if there are baselines, the claims with their verdicts, and the failures.
/// The same folder always gives the same page. O(runs · log runs · resamples).
std::string report_text(const recorded_runs& runs);

/// Returns the same as JSON: machine, experiments[] with cells[] (q1, median, q3, rounds; null if a run was
/// stopped) and claims[].
nlohmann::ordered_json report_json(const recorded_runs& runs);

/// Returns the same as one page of HTML, which needs no other file and no network. Each experiment has its
/// claims with the paper's figure, ours and the verdict, a heat map if there are three cells or more, bars of
/// each program, and a table of the cells. O(as report_text).
std::string report_html(const recorded_runs& runs);

/// Returns the list of experiments, one line each, under the names of the papers that they repeat.
std::string list_text(const std::vector<experiment>& all);
nlohmann::ordered_json list_json(const std::vector<experiment>& all);

/// Returns the plan of a run. For each experiment it states the number of runs, of which `done` are in the
/// folder, the expected time of the others (expected_times) and their maximum time, the environments with
/// their CPUs, and the differences between a machine with that many CPUs and the paper's. O(runs · done).
std::string plan_text(const std::vector<experiment>& all, const run_choice& choice,
                      const std::vector<record>& done, unsigned cpus);

/// Returns "3 s", "12 min", "1 h 5 min".
std::string duration_text(double seconds);

}  // namespace sukima::lab
