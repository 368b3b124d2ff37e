// SPDX-License-Identifier: Apache-2.0
// The experiments of sukima-simulated-lab: groups of the papers' figures, and the cells that were measured.
#pragma once

#include <string>
#include <vector>

namespace sukima::simulation {

/// A claim of a paper, and whether the simulation bears it out.
struct claim {
  std::string figure;
  std::string text;
  std::string paper;  ///< what the paper has
  std::string numbers;  ///< what the simulation has
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

// One for each group of figures.
findings waiting_in_machines();
findings pausing_in_machines();
findings sibling_rules();
findings sharing_cpus();
findings limited_cpus();
findings fewer_cpus();
findings best_counts();
findings numbers_of_threads();
findings affinity_conflicts();
/// The default wait policy against the others in many cells.
findings wait_policies();
/// The cells of docs/results.md, predicted and measured.
findings measured_cells();

/// A line for each experiment.
std::string list_text();
std::string list_json();
/// The number with three digits.
std::string digits(double number);
/// Tables of Markdown, and each claim with its verdict.
std::string text_of(const experiment& e, const findings& found);
std::string json_of(const experiment& e, const findings& found);

}  // namespace sukima::simulation
