// SPDX-License-Identifier: Apache-2.0
// Keeps hwloc from writing to stderr.
#pragma once

#include <cstdlib>

namespace sukima {

/// While an object of this class exists, hwloc does not write to stderr that it cannot read /sys, because the
/// answer reports it. No other thread may use the environment during that time.
class quiet_hwloc {
 public:
  quiet_hwloc() : was_set_(std::getenv(variable) != nullptr) {
    if (!was_set_) setenv(variable, "2", 0);
  }
  ~quiet_hwloc() {
    if (!was_set_) unsetenv(variable);  // started programs inherit the environment
  }
  quiet_hwloc(const quiet_hwloc&) = delete;
  quiet_hwloc& operator=(const quiet_hwloc&) = delete;

 private:
  static constexpr const char* variable = "HWLOC_HIDE_ERRORS";
  bool was_set_;
};

}  // namespace sukima
