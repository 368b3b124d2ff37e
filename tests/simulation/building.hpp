// SPDX-License-Identifier: Apache-2.0
// The topology of the physical CPUs (pCPUs) of a machine.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace sukima::simulation {

/// Modules of CPUs that share a part of their core, in processors. The CPUs of a module have consecutive
/// numbers, and so do the CPUs of a processor.
struct building {
  unsigned module = 1;  ///< CPUs of a module; 1: CPUs share nothing
  unsigned processor = 0;  ///< CPUs of a processor; 0: all CPUs
  /// Speed of a CPU while another CPU of its module is busy, in percent of its full speed.
  unsigned shared_speed = 100;
};

/// The set of the pCPUs whose element is true.
using pcpu_set = std::vector<bool>;

/// Returns the pCPUs in the ranges, each from its first to its last one. \param all  number of pCPUs
inline pcpu_set pcpus_of(std::size_t all, std::initializer_list<std::pair<std::size_t, std::size_t>> ranges) {
  pcpu_set set(all);
  for (const auto& [first, last] : ranges)
    for (std::size_t i = first; i <= last; ++i) set.at(i) = true;
  return set;
}

}  // namespace sukima::simulation
