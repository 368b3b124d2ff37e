// SPDX-License-Identifier: Apache-2.0
// How a node that cannot continue ends its process, and what it reports to the launcher that started it.
#pragma once

#include "protocol/report.hpp"

#include <string>

namespace sukima::cluster {

inline constexpr int status_failed = 1;  ///< a value could not be encoded or decoded on this node
inline constexpr int status_usage = 2;
inline constexpr int status_lost = 75;  ///< EX_TEMPFAIL of sysexits.h: another run may succeed

/// The reason why a node must end.
struct run_failure {
  std::string sentence;
  int status = status_lost;
  int lost = -1;  ///< the node whose loss is the reason; -1: the reason is another one
  bool differs = false;  ///< nodes do not run the same program, so the whole run has failed
};

/// Whether a descriptor that the launcher has named is still a pipe. The program may have closed it, and
/// opened a file of its own under that number.
bool leads_to_launcher(int descriptor) noexcept;

/// Sends a report to the launcher. Any thread may call this.
/// \returns false: no launcher has requested reports, or the report cannot be sent
bool send_report(const node_report& report);

/// Ends this process without calling destructors and functions of atexit, because these may wait for messages
/// that will not arrive. The launcher prints the sentence; without a launcher it is written to stderr.
[[noreturn]] void end_process(const run_failure& why);
/// Ends this process with status 0 after its node has left, in the same way.
[[noreturn]] void end_process_that_left();

}  // namespace sukima::cluster
