// SPDX-License-Identifier: Apache-2.0
// Queries several QEMU monitors at the same time, until a deadline.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "source/qmp_dialogue.hpp"

namespace sukima::host {

/// The result of querying one monitor.
struct qmp_answer {
  enum class outcome { answered, late, failed } result = outcome::failed;
  qmp_machine machine;  ///< if it answered
  std::string failure;  ///< if it failed: a sentence with the socket's path
  /// The process at the other end, as numbered in this process's PID namespace; 0: unknown.
  long process = 0;
};

/// Queries the monitors at these paths. Closes the connections afterwards, because QEMU serves one at a time.
/// \returns the answers in the order of the paths, at the deadline at the latest
std::vector<qmp_answer> ask_monitors(const std::vector<std::string>& paths,
                                     std::chrono::steady_clock::time_point end);

}  // namespace sukima::host
