// SPDX-License-Identifier: Apache-2.0
// Compares the share to which a virtual machine is entitled with what it got, and explains the difference.
#pragma once

#include "estimate.hpp"

namespace sukima::host {

struct explanation {
  /// The estimate in CPUs, with its limit.
  vm_estimate entitled;
  /// The CPUs that it got. If the counters have no interval, this is the sum of ran / (ran + waited) over its
  /// vCPUs, that is, the part of the time in which it could run.
  double got = 0;
  /// Time waited divided by time run; infinite if it only waited.
  double waited_by_ran = 0;
  /// The length of the interval between two descriptions. None: the counters began with the VM.
  std::optional<double> seconds;
  /// Sentences, the most likely reason first; at least one.
  std::vector<std::string> reasons;
};

/// Explains the VM at this position.
/// \param since an earlier description of the same host; the counters then cover the interval between the two
/// \throws description_error  counters are missing or went backwards, or as estimate_shares
explanation explain(const description& host, std::size_t vm,
                    std::optional<weight_owner> weight_of = std::nullopt, const description* since = nullptr);

}  // namespace sukima::host
