// SPDX-License-Identifier: Apache-2.0
// TBB's names for profilers: there is no profiler that would read them, so they have no effect.
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
