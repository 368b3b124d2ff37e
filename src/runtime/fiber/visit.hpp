// SPDX-License-Identifier: Apache-2.0
// Calls a function on another stack (visit.cpp) by a call and a return. Switches (switch.hpp) are jumps.
//
// Normally the function returns to its caller. If the function must continue elsewhere, the thread comes back
// by end_visit instead, from its present stack, and the function never returns. Between the call and that
// moment, the caller's stack below `left_at` is free. Before the thread comes back, the function must leave
// its frames by continue_at: an unwinder would find the caller's stack below them, which may end soon.
#pragma once

namespace sukima::detail {

/// Whether visits work: on x86-64, and only if no sanitizer must be notified of each switch.
bool can_visit() noexcept;

#if defined(__x86_64__)
extern "C" {
/// Calls f(argument) on the stack that ends at `top`, a multiple of 16.
/// \param left_at  is set to the position on the caller's stack to which end_visit comes back
__attribute__((visibility("hidden"))) void sukima_visit(char* top, void (*f)(void*), void* argument,
                                                        char** left_at) noexcept;
/// Continues after the call of sukima_visit that has set `left_at`, with the registers that its caller had.
[[noreturn]] __attribute__((visibility("hidden"))) void sukima_end_visit(char* left_at) noexcept;
/// Calls f(argument), which does not return, on the stack that ends at `top`, a multiple of 16. The previous
/// content of that stack is discarded, and unwinders and debuggers find the end of the stack there.
[[noreturn]] __attribute__((visibility("hidden"))) void sukima_continue_at(char* top, void (*f)(void*),
                                                                           void* argument) noexcept;
}
#endif

inline void visit([[maybe_unused]] char* top, [[maybe_unused]] void (*f)(void*),
                  [[maybe_unused]] void* argument, [[maybe_unused]] char** left_at) noexcept {
#if defined(__x86_64__)
  sukima_visit(top, f, argument, left_at);
#else
  __builtin_unreachable();
#endif
}

[[noreturn]] inline void end_visit([[maybe_unused]] char* left_at) noexcept {
#if defined(__x86_64__)
  sukima_end_visit(left_at);
#else
  __builtin_unreachable();
#endif
}

[[noreturn]] inline void continue_at([[maybe_unused]] char* top, [[maybe_unused]] void (*f)(void*),
                                     [[maybe_unused]] void* argument) noexcept {
#if defined(__x86_64__)
  sukima_continue_at(top, f, argument);
#else
  __builtin_unreachable();
#endif
}

}  // namespace sukima::detail
