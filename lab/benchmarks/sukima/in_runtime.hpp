// SPDX-License-Identifier: Apache-2.0
// Measures the time of a function that runs in the system's runtime.
#pragma once

#include "harness/harness.hpp"
#include "system.hpp"

#include <cstdint>

/// Measures f, or f(context). The value of f is the run's result.
template <class F>
void time_in_runtime(bench::run& run, F f) {
  std::int64_t result = 0;
  run.time([&] { result = system_runtime().run(f); });
  run.result(result);
}
