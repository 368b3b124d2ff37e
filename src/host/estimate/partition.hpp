// SPDX-License-Identifier: Apache-2.0
// An estimate with which the exact one is compared.
#pragma once

#include "estimate/problem.hpp"

namespace sukima::host {

/// The share of each vCPU by the partition of paper 001, section 4.3, of the graph of pCPUs and online vCPUs.
/// A group grows from the pCPU with the fewest vCPUs as long as its pCPUs per vCPU do not decrease. Groups
/// that are connected by cut edges are merged if that helps the first group. Within a group the weights
/// decide. If a weight belongs to a VM, each of its vCPUs has an even part of it. Takes O(pCPUs² × vCPUs /
/// 64).
std::vector<double> partition_shares(const problem& given);

}  // namespace sukima::host
