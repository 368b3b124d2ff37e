// SPDX-License-Identifier: Apache-2.0
// Running one cell: groups, hogs, our program and two observers.
#pragma once

#include "truth/cell.hpp"
#include "truth/control_groups.hpp"
#include "truth/result.hpp"

namespace sukima::truth {

/// How long the parts of a cell take.
struct timing {
  double idle_seconds = 0.8;    ///< the hogs run, our program does not
  double settle_seconds = 0.6;  ///< our program runs, too
  double truth_seconds = 1.25;  ///< what it gets is measured; 1.5 for cells with a quota
  double phase_seconds = 1.5;   ///< of cells with changes and experiments
};

/// Runs a cell. It takes idle + settle + truth seconds and some 0.3 more; with changes three phases, with a
/// experiment two.
/// \throws no_groups if a group cannot be made
cell_result run_cell(const cell& one, control_groups& groups, const timing& times);

}  // namespace sukima::truth
