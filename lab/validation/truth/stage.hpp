// SPDX-License-Identifier: Apache-2.0
// Running one cell: groups, hogs, our program and two observers.
#pragma once

#include <vector>

#include "truth/cell.hpp"
#include "truth/control_groups.hpp"
#include "truth/result.hpp"

namespace sukima::truth {

/// How long the parts of a cell take.
struct timing {
  double idle_seconds = 0.8;    ///< the hogs run, our program does not
  double settle_seconds = 0.6;  ///< our program runs, too
  /// The same below one quota: the kernel spreads threads over the CPUs only while their groups run, so with
  /// a quota of half of the CPUs it takes up to 1.5 s.
  double balance_seconds = 2;
  double truth_seconds = 1.25;  ///< what it gets is measured for at least so long; 1.5 with a quota
  /// The same for one thread beside several hogs: three equal threads on two CPUs have no steady share. One
  /// may get half of a CPU for a second, and 11 % more or less than the mean in 0.8 s (standard deviation).
  double unsteady_seconds = 4;
  /// Its CPU is measured until the standard error is small, but for at most this long.
  double most_truth_seconds = 8;
  double phase_seconds = 1.5;  ///< of cells with changes and experiments
};

/// The standard error of the mean of some values, as a part of the mean; infinite for fewer than two.
double standard_error(const std::vector<double>& values);

/// Runs a cell. It takes the sum of the times above and some 0.3 s more; with changes three phases, with an
/// experiment two.
/// \throws no_groups if a group cannot be made
cell_result run_cell(const cell& one, control_groups& groups, const timing& times);

}  // namespace sukima::truth
