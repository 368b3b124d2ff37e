// SPDX-License-Identifier: Apache-2.0
// Stack overflow ends the program with a sentence that names the setting.
#pragma once

namespace sukima::detail {

/// Installs the handler for SIGSEGV and SIGBUS once; what was installed before is called for all other
/// faults.
void watch_for_overflow() noexcept;

/// Gives this thread a stack for signal handlers, if it has none; it is freed when the thread ends.
void ensure_alternate_stack() noexcept;

}  // namespace sukima::detail
