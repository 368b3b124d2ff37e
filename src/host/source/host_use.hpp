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

/// Attributes what the virtual machines ran to pCPUs: to the one on which each was seen last, without such
/// one to those that it may use, by what is left of their busy time. The rest is the host's. Its sum is
/// exact, the sum of `busy` less that of `ran`, but not below 0; its division is an estimate where vCPUs
/// move.
/// \param busy seconds of each pCPU
std::vector<double> host_use(const std::vector<double>& busy, const std::vector<ran_somewhere>& ran);

}  // namespace sukima::host
