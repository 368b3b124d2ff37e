// SPDX-License-Identifier: Apache-2.0
// The C library's functions behind those that this program replaces (threads.cpp, futexes.cpp, clocks.cpp).
#pragma once

namespace sukima::simulation {

/// The definition of that function in the C library.
void* real_address(const char* name) noexcept;
template <class F> F* real(const char* name) noexcept { return reinterpret_cast<F*>(real_address(name)); }

using system_call = long(long, ...);
system_call* real_syscall_function() noexcept;
/// A system call that the machine does not see.
template <class... Arguments> long real_syscall(long number, Arguments... arguments) noexcept {
  return real_syscall_function()(number, arguments...);
}

}  // namespace sukima::simulation
