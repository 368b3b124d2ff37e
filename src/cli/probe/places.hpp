// SPDX-License-Identifier: Apache-2.0
// The places of the machine in the answer of `sukima probe`: NUMA domains, last-level caches, cores.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "capacity/meter.hpp"

namespace sukima::cli::probe {

struct machine_place {
  std::string name;    ///< "core 3"
  std::string level;   ///< "core"
  std::string around;  ///< the name of the smallest place that contains it; empty for the machine
  std::string cpus;    ///< "0-3,8"; empty for a domain that has only memory
  bool usable = false;  ///< it contains a CPU that the process may use
};

/// Returns all places, the larger ones first. docs/placement.md explains them.
/// \throws std::bad_alloc
std::vector<machine_place> read_places(const meter_place& of);

/// Returns "Places: 2 of 2 NUMA domains, 4 of 16 last-level caches, …\n": how many have a usable CPU. Empty
/// if the machine states no place.
std::string text_of(const std::vector<machine_place>& places);
nlohmann::json json_of(const std::vector<machine_place>& places);

}  // namespace sukima::cli::probe
