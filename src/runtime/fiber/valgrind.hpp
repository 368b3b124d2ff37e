// SPDX-License-Identifier: Apache-2.0
// Informs valgrind of the stacks of fibers. Otherwise it would take the switch between two stacks that are
// close together for one large frame, and report accesses to memory that fibers use. Outside valgrind each
// call is a few instructions without an effect.
#pragma once

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

namespace sukima::detail {

/// \returns valgrind's number for the stack; 0 outside valgrind
inline unsigned register_stack([[maybe_unused]] const char* lowest,
                               [[maybe_unused]] const char* end) noexcept {
#if defined(VALGRIND_STACK_REGISTER)
  return VALGRIND_STACK_REGISTER(lowest, end - 1);
#else
  return 0;
#endif
}
inline void deregister_stack([[maybe_unused]] unsigned number) noexcept {
#if defined(VALGRIND_STACK_DEREGISTER)
  VALGRIND_STACK_DEREGISTER(number);
#endif
}

}  // namespace sukima::detail
