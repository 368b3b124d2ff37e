// SPDX-License-Identifier: Apache-2.0
// CAP_ASSERT evaluates the invariants that the comments state, as SUKIMA_ASSERT does in C++
// (src/base/shared/assert.hpp). It needs no stdio and no memory, and it leaves nothing in a build without
// assertions: then a condition is compiled but never evaluated.
#ifndef SUKIMA_CAPACITY_SHARED_ASSERT_H
#define SUKIMA_CAPACITY_SHARED_ASSERT_H

#if defined(SUKIMA_ASSERTIONS)
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/// Writes which invariant does not hold and where, and aborts.
__attribute__((noreturn, cold, noinline, unused)) static void cap_invariant_failed(const char* message,
                                                                                   size_t length) {
  while (length != 0) {
    ssize_t count = write(STDERR_FILENO, message, length);
    if (count <= 0) break;
    message += count;
    length -= (size_t)count;
  }
  abort();
}

#define CAP_TEXT_OF_NUMBER(number) #number
#define CAP_TEXT_OF(macro) CAP_TEXT_OF_NUMBER(macro)
#define CAP_VIOLATION(invariant, condition)                                                                 \
  "sukima: an invariant does not hold: " invariant "\n  " __FILE__ ":" CAP_TEXT_OF(__LINE__) ": " condition \
                                                                                             "\n"
/// \param invariant  a literal sentence that states the invariant
#define CAP_ASSERT(condition, invariant)                                    \
  ((condition) ? (void)0                                                    \
               : cap_invariant_failed(CAP_VIOLATION(invariant, #condition), \
                                      sizeof(CAP_VIOLATION(invariant, #condition)) - 1))
#else
#define CAP_ASSERT(condition, invariant) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
