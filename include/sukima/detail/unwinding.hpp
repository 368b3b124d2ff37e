// SPDX-License-Identifier: Apache-2.0
// The number of exceptions in flight, without the calls of std::uncaught_exceptions().
#pragma once

#include <sukima/detail/atomics.hpp>

#include <exception>

namespace sukima::detail {

/// The address of the C++ runtime's count for this thread; of a 0 on a thread that has run no fiber. The
/// count belongs to the running fiber, because a switch exchanges it (src/runtime/fiber/exception_state.hpp).
extern "C" __thread const unsigned* sukima_uncaught_exceptions __attribute__((tls_model("initial-exec")));

/// std::uncaught_exceptions(), but in 3 instructions. On a thread that has run no fiber it is 0: the
/// constructor of a future reads it before it refuses such a thread. The address of the thread-local must not
/// be kept while a fiber moves to another thread, so each access computes it anew.
[[gnu::always_inline]] inline int uncaught_in_fiber() noexcept {
#if defined(__x86_64__) && !defined(SUKIMA_ATOMICS)
  const unsigned* count;
  asm volatile("movq sukima_uncaught_exceptions@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(count));
  return static_cast<int>(*count);
#else
  return std::uncaught_exceptions();
#endif
}

}  // namespace sukima::detail
