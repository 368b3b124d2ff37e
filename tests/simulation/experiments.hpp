// SPDX-License-Identifier: Apache-2.0
// The experiments of sukima-simulated-lab: the papers' figures, in groups, and the measured cells.
#pragma once

#include <string>
#include <vector>

namespace sukima::simulation {

/// A claim of a paper, and whether the simulation confirms it.
struct claim {
  std::string figure;
  std::string text;
  std::string paper;  ///< the result of the paper
  std::string numbers;  ///< the result of the simulation
  bool holds = false;
};

struct findings {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<claim> claims;
  std::vector<std::string> notes;
};

struct experiment {
  const char* name;
  const char* about;
  findings (*run)();
};

const std::vector<experiment>& experiments();

// One experiment for each group of figures.
findings waiting_in_machines();
findings pausing_in_machines();
findings sibling_rules();
findings sharing_cpus();
findings limited_cpus();
findings fewer_cpus();
findings best_counts();
findings numbers_of_threads();
findings affinity_conflicts();
/// Compares the default wait policy with the others in many cells.
findings wait_policies();
/// Compares predictions with measurements for the cells of docs/results.md.
findings measured_cells();

/// One line for each experiment.
std::string list_text();
std::string list_json();
/// Returns the number with three digits.
std::string digits(double number);
/// Returns Markdown tables, and each claim with its verdict.
std::string text_of(const experiment& e, const findings& found);
std::string json_of(const experiment& e, const findings& found);

}  // namespace sukima::simulation
