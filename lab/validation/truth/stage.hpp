// SPDX-License-Identifier: Apache-2.0
// Runs one cell: groups, hogs, our program and two observers.
#pragma once

#include <vector>

#include "truth/cell.hpp"
#include "truth/control_groups.hpp"
#include "truth/result.hpp"

namespace sukima::truth {

/// The times of the parts of a cell.
struct timing {
  double idle_seconds = 0.8;    ///< only the hogs run
  double settle_seconds = 0.6;  ///< our program starts to run, too
  /// The same below one quota. The kernel spreads threads over the CPUs only while their groups run, which
  /// takes up to 1.5 s with a quota of half the CPUs.
  double balance_seconds = 2;
  double truth_seconds = 1.25;  ///< least time of the measurement; 1.5 with a quota
  /// The same for one thread beside several hogs, because three equal threads on two CPUs have no steady
  /// share. One may get half of a CPU for a second. In 0.8 s, the standard deviation from the mean is 11 %.
  double unsteady_seconds = 4;
  /// Longest time of the measurement, which otherwise ends when the standard error is small.
  double most_truth_seconds = 8;
  double phase_seconds = 1.5;  ///< of cells with changes and experiments
};

/// Returns the standard error of the mean as a part of the mean; infinite for fewer than two values.
double standard_error(const std::vector<double>& values);

/// Runs a cell. Takes the sum of the times above plus about 0.3 s; cells with changes have three phases,
/// cells with an experiment two.
/// \throws no_groups if a group cannot be made
cell_result run_cell(const cell& one, control_groups& groups, const timing& times);

}  // namespace sukima::truth
