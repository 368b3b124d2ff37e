// SPDX-License-Identifier: Apache-2.0
// The functions of the C library that this program replaces (threads.cpp, futexes.cpp, clocks.cpp).
#pragma once

namespace sukima::simulation {

/// Returns the address of that function in the C library.
void* real_address(const char* name) noexcept;
template <class F> F* real(const char* name) noexcept { return reinterpret_cast<F*>(real_address(name)); }

using system_call = long(long, ...);
system_call* real_syscall_function() noexcept;
/// Makes a system call of which the machine is not informed.
template <class... Arguments> long real_syscall(long number, Arguments... arguments) noexcept {
  return real_syscall_function()(number, arguments...);
}

}  // namespace sukima::simulation
