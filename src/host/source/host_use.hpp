// SPDX-License-Identifier: Apache-2.0
// Computes what the host itself used of each pCPU: the busy time that is not explained by its virtual
// machines.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sukima::host {

/// How long a vCPU ran, and on which pCPUs that may have been, by their positions.
struct ran_somewhere {
  double seconds = 0;
  std::optional<std::size_t> last;
  std::vector<std::size_t> may;
};

/// Attributes the time that each vCPU ran to the pCPU on which it was seen last. If that is unknown, the time
/// is divided among the pCPUs that it may use, in proportion to the rest of their busy time. The host used
/// the remaining time. The sum of the remaining time is exact: the sum of `busy` minus that of `ran`, but at
/// least 0. Its division among pCPUs is an estimate if vCPUs move.
/// \param busy in seconds, for each pCPU
std::vector<double> host_use(const std::vector<double>& busy, const std::vector<ran_somewhere>& ran);

}  // namespace sukima::host
