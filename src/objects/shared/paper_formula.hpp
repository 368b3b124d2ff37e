// SPDX-License-Identifier: Apache-2.0
// The formula of Aoyagi, Nakabayashi, Iwata, Uehara and Mori, "Evaluation of Execution System for
// Concurrent Objects on Shared Memory Multiprocessors": a program's time is the sum of its communication
// time, by their equations 14 to 16, its main processing time divided by a divisor, and its waiting time.
#pragma once

#include "execution_model.hpp"

namespace sukima::objects::model {

/// The time of one communication for each unit of execution, in any unit of time. The first two depend on the
/// number of CPUs.
struct paper_costs {
  double process = 0, thread = 0, simulated = 0;
  /// \param which not unit::pipe
  double of(unit which) const {
    return which == unit::simulated ? simulated : which == unit::thread ? thread : process;
  }
};

/// Numbers of communications, or their shares.
struct paper_counts {
  double between = 0;  ///< between groups
  double within = 0;  ///< within groups
};

/// Returns the divisor: the number of CPUs on which the groups run, at least 1.
double paper_divisor(double cpus, double groups);

/// Returns the time of communication. workers:simulated, which the paper does not have, counts as
/// threads:simulated.
/// \param divisor the divisor of the grouping
double paper_communication(execution_model model, const paper_costs& costs, const paper_counts& counts,
                           double divisor);

}  // namespace sukima::objects::model
