// SPDX-License-Identifier: Apache-2.0
// What the host itself used of each pCPU: the busy time that its virtual machines do not explain.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sukima::host {

/// How long a vCPU ran, and where that may have been: positions of pCPUs.
struct ran_somewhere {
  double seconds = 0;
  std::optional<std::size_t> last;
  std::vector<std::size_t> may;
};

/// Attributes the time that each vCPU ran to the pCPU on which it was seen last. If that is unknown, the time
/// goes to the pCPUs that it may use, in proportion to the rest of their busy time. The rest is the host's:
/// its sum is exact, the sum of `busy` less that of `ran`, but at least 0; its division is an estimate where
/// vCPUs move.
/// \param busy seconds of each pCPU
std::vector<double> host_use(const std::vector<double>& busy, const std::vector<ran_somewhere>& ran);

}  // namespace sukima::host
