// SPDX-License-Identifier: Apache-2.0
// The estimates that the exact one is compared with.
#pragma once

#include "estimate/problem.hpp"

namespace sukima::host {

/// What each vCPU gets by the partition of paper 001, section 4.3, of the graph of pCPUs and vCPUs that are
/// online: groups grow from the pCPU with the fewest vCPUs while the pCPUs for each vCPU do not become fewer;
/// groups that cut edges connect are merged where that helps the first. Within a group the weights decide;
/// where the weight is a VM's, each of its vCPUs has an even part. Takes O(pCPUs² × vCPUs / 64).
std::vector<double> partition_shares(const problem& given);

}  // namespace sukima::host
