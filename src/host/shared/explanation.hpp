// SPDX-License-Identifier: Apache-2.0
// The share that a virtual machine is entitled to, what it got, and why the two differ.
#pragma once

#include "estimate.hpp"

namespace sukima::host {

struct explanation {
  /// The estimate, in CPUs, and what limits it.
  vm_estimate entitled;
  /// The CPUs that it got. Of counters without an interval: while it could run, ran / (ran + waited) of each
  /// vCPU.
  double got = 0;
  /// Time waited by time run; infinite if it only waited.
  double waited_by_ran = 0;
  /// Between two descriptions: its length. None: counters since the VM began.
  std::optional<double> seconds;
  /// Sentences, the most likely reason first; at least one.
  std::vector<std::string> reasons;
};

/// Explains the VM at this position. \param since an earlier description of the same host, for the counters'
/// interval
/// \throws description_error if counters are missing, went backwards, or as estimate_shares
explanation explain(const description& host, std::size_t vm,
                    std::optional<weight_owner> weight_of = std::nullopt, const description* since = nullptr);

}  // namespace sukima::host
