// SPDX-License-Identifier: Apache-2.0
// Overflow of a fiber's C stack or choice stack ends the program with a message that names the setting.
//
// Large fibers, and small fibers on Linux 6.13 and later with pages of 4 KiB, have guards of 64 KiB or more,
// whose addresses the fault handler recognises. Small fibers on other kernels have the same space below their
// C stack, but it is accessible. A canary at its upper end is checked whenever a worker switches away from
// the fiber.
#pragma once

namespace sukima::detail {

struct fiber;

/// Installs the handler for SIGSEGV and SIGBUS once. It calls the previous handlers for all other faults.
void watch_for_overflow() noexcept;

/// Writes the canary right below the C stack of a fiber that has no guard page.
void place_canary(fiber& s) noexcept;
/// Ends the program if a fiber with a canary has overflowed its C stack.
/// \param stack_pointer  of the fiber where it was left
void check_canary(const fiber& s, const void* stack_pointer) noexcept;

/// Gives this thread a stack for signal handlers, if it has none; it is freed when the thread ends.
void ensure_alternate_stack() noexcept;

}  // namespace sukima::detail
