// SPDX-License-Identifier: Apache-2.0
// How the physical CPUs (pCPUs) of a machine are built.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace sukima::simulation {

/// Modules of CPUs that share a part of their core, in processors. The numbers in a module follow each other,
/// and so do those in a processor.
struct building {
  unsigned module = 1;  ///< CPUs of one; 1: no CPU shares anything
  unsigned processor = 0;  ///< CPUs of one; 0: all
  /// Speed of a CPU while another one of its module is busy, in percent of its speed alone.
  unsigned shared_speed = 100;
};

/// Contains those pCPUs whose element is true.
using pcpu_set = std::vector<bool>;

/// Of so many pCPUs those in the ranges: each from its first to its last one.
inline pcpu_set pcpus_of(std::size_t all, std::initializer_list<std::pair<std::size_t, std::size_t>> ranges) {
  pcpu_set set(all);
  for (const auto& [first, last] : ranges)
    for (std::size_t i = first; i <= last; ++i) set.at(i) = true;
  return set;
}

}  // namespace sukima::simulation
