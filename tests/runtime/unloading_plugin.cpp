// SPDX-License-Identifier: Apache-2.0
// A plug-in of unloading_program with its own copy of the library.
#include <sukima/sukima.hpp>

#include <chrono>

extern "C" {

long computes_nothing(int n) { return n; }

/// The default runtime, which is never ended.
long in_default_runtime(int n) {
  return sukima::run([n](sukima::context) { return static_cast<long>(n); });
}

/// A runtime that ends before the function returns. The clock's thread stays.
long with_deadline(int n) {
  sukima::settings chosen;
  chosen.workers = 1;
  sukima::runtime own(chosen);
  return own.run([n](sukima::context) {
    return sukima::cancellable(std::chrono::hours(1), [n](sukima::context) { return static_cast<long>(n); })
        .value_or(0);
  });
}
}
