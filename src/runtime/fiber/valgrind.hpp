// SPDX-License-Identifier: Apache-2.0
// What valgrind must know of fibers: where their stacks are. Otherwise it takes the switch between two stacks
// that are close together for one large frame, and reports accesses to memory that fibers use. Outside
// valgrind each call is a few instructions without an effect.
#pragma once

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

namespace sukima::detail {

/// \returns its number for valgrind; 0 outside valgrind
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
