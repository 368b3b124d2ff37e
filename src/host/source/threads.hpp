// SPDX-License-Identifier: Apache-2.0
// What /proc says of a thread of this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sukima::host {

struct thread_facts {
  /// The process that it belongs to, and when that one began, in ticks since the machine's start.
  long process = 0;
  std::string begun;
  /// Seconds; `waited` contains throttling.
  double ran = 0, waited = 0;
  /// The CPUs that it may use; empty: unknown.
  std::vector<std::uint32_t> cpus;
  /// The CPU on which it ran last.
  std::optional<std::uint32_t> last_cpu;
};

/// \param root goes before /proc \returns none if there is no such thread, or the kernel does not count it
std::optional<thread_facts> read_thread(const std::string& root, long thread);

}  // namespace sukima::host
