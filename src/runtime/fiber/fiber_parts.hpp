// SPDX-License-Identifier: Apache-2.0
// The parts of a runtime that code of fibers and choice points may use (runtime_core.hpp).
#pragma once

#include "runtime_core.hpp"

#include <utility>

namespace sukima::detail {

class fiber_pool;
class node_events;
class place_events;

struct fiber_parts : runtime_core {
  fiber_pool& fibers;
  fiber_pool& bound_fibers;  ///< small ones, of executors
  place_events& hints;
  node_events& remote;

 protected:
  /// \param lower  the arguments of the layer below
  template <class... Lower>
  explicit fiber_parts(fiber_pool& fibers_part, fiber_pool& bound_fibers_part, place_events& hints_part,
                       node_events& remote_part, Lower&&... lower)
      : runtime_core(std::forward<Lower>(lower)...),
        fibers(fibers_part),
        bound_fibers(bound_fibers_part),
        hints(hints_part),
        remote(remote_part) {}
};

}  // namespace sukima::detail
