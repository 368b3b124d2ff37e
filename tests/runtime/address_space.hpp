// SPDX-License-Identifier: Apache-2.0
// Helpers for processes of death tests: with little address space, and with a time limit.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <fstream>

namespace support {

inline std::size_t address_space_in_use() {
  std::ifstream status("/proc/self/statm");
  std::size_t pages = 0;
  status >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Allows this process at most that many bytes more than it uses.
inline void limit_address_space(std::size_t more) {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);  // only root may raise the hard limit
  limit.rlim_cur = address_space_in_use() + more;
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::perror("setrlimit");
}

/// Ends this process by SIGALRM after that time.
inline void give_up_after(unsigned seconds) { alarm(seconds); }

}  // namespace support
