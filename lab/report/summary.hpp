// SPDX-License-Identifier: Apache-2.0
// Counts the verdicts of a folder, over claims and over the papers' figures.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "shared/folder.hpp"
#include "shared/verdict.hpp"

namespace sukima::lab {

/// An experiment with its judged claims.
struct judged_experiment {
  const lab::experiment* experiment = nullptr;
  std::vector<judged_claim> claims;
};

/// Judges all claims of a folder. O(as judge).
std::vector<judged_experiment> judge_all(const recorded_runs& runs);

/// The number of claims with each verdict.
class verdict_counts {
 public:
  void add(verdict one) { ++counts_[static_cast<std::size_t>(one)]; }
  std::size_t of(verdict one) const { return counts_[static_cast<std::size_t>(one)]; }
  std::size_t decided() const { return of(verdict::holds) + of(verdict::does_not_hold); }
  std::size_t all() const { return decided() + of(verdict::undecided) + of(verdict::cannot_be_shown); }
  /// Returns the verdicts that occur: "3 hold, 1 does not hold".
  std::string text() const;

 private:
  std::array<std::size_t, 4> counts_{};
};

/// A figure of a paper with the verdicts of all claims about it, in all experiments.
struct judged_figure {
  std::string name;
  verdict_counts claims;

  /// Returns "decided": all of its claims are decided. "mixed": some are. "undecided": none is. "cannot be
  /// shown here": none of them can be shown.
  const char* state() const;
};

/// Returns the figures with claims about them, in the order of their first claims.
std::vector<judged_figure> figures_of(const std::vector<judged_experiment>& all);

/// Returns the first paragraphs of a report: the numbers of claims and figures, then the claims that do not
/// hold.
std::string summary_text(const recorded_runs& runs, const std::vector<judged_experiment>& all);

/// Returns the same as JSON: `quick`, `confidence`, `claims` with a number for each verdict, `figures`,
/// `does_not_hold`.
nlohmann::ordered_json summary_json(const recorded_runs& runs, const std::vector<judged_experiment>& all);

/// Returns "1.02 (1.01 to 1.05)", or the reason why the ratio is missing.
std::string ratio_text(const judged_cell& one);

/// Returns the part of a claim's programs and environments that was run: "Here: 2 of its 5 programs." Empty
/// if all were run.
std::string part_text(const judged_claim& one);

}  // namespace sukima::lab
