// SPDX-License-Identifier: Apache-2.0
// Whether small fibers have guard pages on this machine: MADV_GUARD_INSTALL, since Linux 6.13.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace support {

/// Whether this process may read that byte. The kernel checks it, so nothing faults.
inline bool can_be_read(const char* byte) {
  int ends[2];
  if (pipe(ends) != 0) return true;
  const bool could = write(ends[1], byte, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return could;
}

/// Whether guard pages work. The check installs one, because an emulator may accept the call and do nothing.
inline bool has_guard_pages() {
  constexpr int guard_install = 102;
  constexpr std::size_t page = 4096;
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(page)) return false;
  void* const memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  const bool guards =
      madvise(memory, page, guard_install) == 0 && !can_be_read(static_cast<const char*>(memory));
  munmap(memory, page);
  return guards;
}

}  // namespace support
