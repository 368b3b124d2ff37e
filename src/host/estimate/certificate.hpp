// SPDX-License-Identifier: Apache-2.0
// Is a solution right? A proof that does not depend on how it was found.
#pragma once

#include <string>

#include "estimate/shares.hpp"

namespace sukima::host {

/// Why these are not the shares of the problem; empty if they are, up to 1e-6 CPUs. They are if the flow
/// meets them, no bound is exceeded, and no claimant below its bound can reach, by pushing others, a pCPU
/// with room or one that serves a claimant with more per weight. Takes O(claimants × (vCPUs + pCPUs)).
std::string find_defect(const shares& solution);

}  // namespace sukima::host
