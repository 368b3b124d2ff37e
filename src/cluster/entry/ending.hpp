// SPDX-License-Identifier: Apache-2.0
// How a node ends its process when it cannot go on, and what it reports to the launcher that has started it.
#pragma once

#include "protocol/report.hpp"

#include <string>

namespace sukima::cluster {

inline constexpr int status_usage = 2;
inline constexpr int status_lost = 75;  ///< EX_TEMPFAIL of sysexits.h: running it again may help

/// Why a node must end.
struct run_failure {
  std::string sentence;
  int status = status_lost;
  int lost = -1;  ///< the node whose loss is the reason; -1: the reason is another one
  bool differs = false;  ///< nodes do not run the same program, so the whole run has failed
};

/// Returns whether a descriptor that the launcher has named still is a pipe. A program may have closed it,
/// and opened a file of its own under that number.
bool leads_to_launcher(int descriptor) noexcept;

/// Reports to the launcher. Any thread.
/// \returns false: no launcher has asked for reports, or this one cannot be sent
bool send_report(const node_report& report);

/// Ends this process without destructors and atexit functions, which may wait for messages that will not
/// arrive. The launcher prints the sentence; without a launcher it is written to stderr.
[[noreturn]] void end_process(const run_failure& why);
/// Ends this process with status 0, in the same way. Its node has left.
[[noreturn]] void end_process_that_left();

}  // namespace sukima::cluster
