// SPDX-License-Identifier: Apache-2.0
// The parts of a runtime that publishing and stealing, and code below them, may use (runtime_core.hpp).
#pragma once

#include "park/park_parts.hpp"

#include <utility>

namespace sukima::detail {

class injector_queue;
class splittable_fibers;

struct steal_parts : park_parts {
  injector_queue& injector;
  splittable_fibers& splittable;

 protected:
  /// \param lower  the arguments of the layer below
  template <class... Lower>
  explicit steal_parts(injector_queue& injector_part, splittable_fibers& splittable_part, Lower&&... lower)
      : park_parts(std::forward<Lower>(lower)...), injector(injector_part), splittable(splittable_part) {}
};

}  // namespace sukima::detail
