// SPDX-License-Identifier: Apache-2.0
// Reads the data of a thread of this machine from /proc.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sukima::host {

struct thread_facts {
  /// The process of the thread, and when that process began, in ticks since the machine's start.
  long process = 0;
  std::string begun;
  /// In seconds. `waited` includes throttling.
  double ran = 0, waited = 0;
  /// The CPUs that it may use; empty: unknown.
  std::vector<std::uint32_t> cpus;
  /// The CPU on which it ran last.
  std::optional<std::uint32_t> last_cpu;
};

/// \param root prefix of /proc \returns nothing if the thread does not exist, or the kernel does not count it
std::optional<thread_facts> read_thread(const std::string& root, long thread);

}  // namespace sukima::host
