// SPDX-License-Identifier: Apache-2.0
// The parts of a runtime that parking, and code below it, may use (runtime_core.hpp).
#pragma once

#include "fiber/fiber_parts.hpp"

#include <utility>

namespace sukima::detail {

class assigned_cpus;
class compensation;
class cpu_pressure;
class future_source;
class parking;

struct park_parts : fiber_parts {
  parking& park;
  future_source& unbegun;  ///< the launched futures, by the interface for idle workers
  cpu_pressure& shortage;
  assigned_cpus& placement;
  compensation& blocking;

 protected:
  /// \param lower  the arguments of the layer below
  template <class... Lower>
  explicit park_parts(parking& park_part, future_source& unbegun_part, cpu_pressure& shortage_part,
                      assigned_cpus& placement_part, compensation& blocking_part, Lower&&... lower)
      : fiber_parts(std::forward<Lower>(lower)...),
        park(park_part),
        unbegun(unbegun_part),
        shortage(shortage_part),
        placement(placement_part),
        blocking(blocking_part) {}
};

}  // namespace sukima::detail
