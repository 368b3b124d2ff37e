// SPDX-License-Identifier: Apache-2.0
// The cells of the table of truth: a program, its group, and its neighbours.
#pragma once

#include <string>
#include <vector>

namespace sukima::truth {

/// The groups of our threads and of the hogs.
enum class place {
  same_group,       ///< all in the same group
  two_groups,       ///< ours in one group, all hogs in another
  own_groups,       ///< each in its own group
  root_group,       ///< all in the root group, in one session
  own_sessions,     ///< all in the root group, each in its own session
  below_one_parent  ///< ours in a group and the hogs in another one, with the quota on the group above both
};

/// The purpose of a cell.
enum class purpose {
  base,  ///< places, weights, numbers of threads and of hogs
  quota,  ///< with a quota
  nice,  ///< hogs with another nice value
  on_off,  ///< hogs that are on for 50 ms and off for 50 ms
  blocked,  ///< our threads block half of the time: 5 ms on, 5 ms off
  change,  ///< the hogs start and stop
  experiment,  ///< our program changes its number of threads
  cost  ///< eight threads beside ten groups, for eight seconds, to measure the cost of sampling
};

struct cell {
  truth::purpose purpose = truth::purpose::base;
  place where = place::two_groups;
  int threads = 1;  ///< number of our threads
  int hogs = 0;  ///< number of processes with one thread that never blocks
  int own_weight = 1;  ///< of our group, 1 is the kernel's default
  int hog_weight = 1;  ///< of each of the hogs' groups
  double quota = 0;  ///< CPUs, 0: none
  int hog_nice = 0;
  int experiment_threads = 0;  ///< the number of threads that the experiment tries

  /// A name made of all members, which identifies the cell.
  [[nodiscard]] std::string name() const;
  /// The name without our number of threads. Cells that share it show the CPUs for other numbers.
  [[nodiscard]] std::string family() const;
};

/// All cells, always in the same order: 229 for the truth, then the cells of experiments and of the cost.
std::vector<cell> all_cells();

/// 30 of the cells, for continuous integration.
std::vector<cell> quick_cells();

const char* name_of(purpose purpose);
const char* letter_of(place where);

}  // namespace sukima::truth
