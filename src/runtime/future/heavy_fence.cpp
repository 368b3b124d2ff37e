// SPDX-License-Identifier: Apache-2.0
// The expensive half of an asymmetric fence: the system call membarrier.
//
// A process registers for it once. Before main this costs nothing, because the process has one thread; later
// it may take milliseconds. If the kernel refuses, each future ends by a CAS.
#include <sukima/detail/atomics.hpp>

#if !defined(SUKIMA_ATOMICS)

#include <sukima/detail/jump.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace sukima::detail {

namespace {

bool call_membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

const bool registered = call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);

}  // namespace

bool has_heavy_fence() noexcept { return registered; }

void heavy_fence() noexcept {
  while (!call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
    if (errno == ENOMEM) continue;  // a temporary shortage in the kernel
    end_program(
        "sukima: the system call membarrier fails now but worked when the program began; let the filter of "
        "system calls allow it, or forbid it before the program begins\n");
  }
}

}  // namespace sukima::detail

#endif
