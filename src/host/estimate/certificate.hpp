// SPDX-License-Identifier: Apache-2.0
// Checks whether a solution is right, by a proof that does not depend on how the solution was found.
#pragma once

#include <string>

#include "estimate/shares.hpp"

namespace sukima::host {

/// Says why these are not the shares of the problem; empty if they are, up to 1e-6 CPUs. The shares are right
/// if the flow yields them, no bound is exceeded, and no claimant below its bound can reach, by pushing
/// others, a pCPU with room or a pCPU that serves a claimant with more per weight. Takes O(claimants × (vCPUs
/// + pCPUs)).
std::string find_defect(const shares& solution);

}  // namespace sukima::host
