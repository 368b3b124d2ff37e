// SPDX-License-Identifier: Apache-2.0
// TBB's names for profilers. They have no effect, because no profiler reads them.
#pragma once

#include <sukima/detail/tbb/names.hpp>

namespace tbb::profiling {

class event {
 public:
  explicit event(const char* /*name*/) {}
  void emit() {}
  static void emit(const char* /*name*/) {}
};

}  // namespace tbb::profiling
