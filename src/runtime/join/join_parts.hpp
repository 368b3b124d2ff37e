// SPDX-License-Identifier: Apache-2.0
// The parts of a runtime that joins, futures, cancellation, and code below them, may use (runtime_core.hpp).
// Placement, the remote node and control add none, because their classes receive what they use.
#pragma once

#include "steal/steal_parts.hpp"

#include <utility>

namespace sukima::detail {

class cancellable_suspensions;
class launched_futures;
class parked_fibers;

struct join_parts : steal_parts {
  launched_futures& launched;
  cancellable_suspensions& suspensions;
  parked_fibers& parked;

 protected:
  /// \param lower  the arguments of the layer below
  template <class... Lower>
  explicit join_parts(launched_futures& launched_part, cancellable_suspensions& suspensions_part,
                      parked_fibers& parked_part, Lower&&... lower)
      : steal_parts(std::forward<Lower>(lower)...),
        launched(launched_part),
        suspensions(suspensions_part),
        parked(parked_part) {}
};

}  // namespace sukima::detail
