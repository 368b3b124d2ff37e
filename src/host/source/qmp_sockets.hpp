// SPDX-License-Identifier: Apache-2.0
// Asks several of QEMU's monitors at the same time, until a deadline.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "source/qmp_dialogue.hpp"

namespace sukima::host {

/// What came of asking one monitor.
struct qmp_answer {
  enum class outcome { answered, late, failed } result = outcome::failed;
  qmp_machine machine;  ///< if it answered
  std::string failure;  ///< if it failed: a sentence with the socket's path
  /// The process at the other end as this process numbers it; 0: unknown.
  long process = 0;
};

/// Asks the monitors at these paths. The connections are closed afterwards, since QEMU serves one at a time.
/// \returns the answers in the order of the paths, at the deadline at the latest
std::vector<qmp_answer> ask_monitors(const std::vector<std::string>& paths,
                                     std::chrono::steady_clock::time_point end);

}  // namespace sukima::host
