// SPDX-License-Identifier: Apache-2.0
// Compares the runs of the two sides of a claim.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "shared/experiment.hpp"
#include "shared/record.hpp"
#include "shared/statistics.hpp"

namespace sukima::lab {

/// Returns the element with this name. \pre it exists
template <class Thing>
const Thing& named(const std::vector<Thing>& all, const std::string& name) {
  return *std::ranges::find(all, name, &Thing::name);
}

/// The rounds of a program with one setting in one environment, and the factor of their times.
struct sample {
  const rounds* cell = nullptr;
  const rounds* least = nullptr;  ///< the same with the time limit instead of infinite times
  std::string setting;
  const environment* where = nullptr;
  double factor = 1;
};

/// Both sides of a claim for one program.
struct comparison {
  std::vector<sample> left, right;
  /// Only for relative times: the target times of `left`, and of `right` if that has its own environments.
  std::vector<sample> left_targets, right_targets;

  std::vector<sample> all() const;
  /// Returns the common rounds of all samples. O(samples · rounds · log rounds).
  std::vector<unsigned> common_rounds() const;
  /// Returns whether a run of these rounds was stopped at the time limit.
  bool has_stopped(const std::vector<unsigned>& common) const;
  /// Returns the environment of the largest relative time on the left.
  const std::string& worst_environment(const std::vector<unsigned>& common) const;
};

/// Returns the compared samples of a claim.
/// \param places one environment, or those among which the worst counts
comparison comparison_of(const experiment& experiment, const claim& of, const std::string& program,
                         const std::vector<std::string>& places, const measured& runs, unsigned cpus);

/// Returns the ratio of left to right, or of measured to target times, with its interval; nothing if it is
/// undefined.
std::optional<interval> ratio_of(const claim& of, const comparison& sides,
                                 const std::vector<unsigned>& common);

/// Returns the comparisons with the smallest and the largest ratio that stopped runs allow. In each, the
/// stopped runs of one side count with the time limit.
std::array<comparison, 2> extremes_of(const comparison& sides);

}  // namespace sukima::lab
