// SPDX-License-Identifier: Apache-2.0
// SUKIMA_ASSERT: the invariants that the comments state, evaluated. On in Debug and in the stress build, off
// in Release, where a condition is compiled and never evaluated. tests/memory explores each access of the
// protocols, so nothing is added to them there.
#pragma once

#if !defined(NDEBUG) && !defined(SUKIMA_ATOMICS) && !defined(SUKIMA_ASSERTIONS)
#define SUKIMA_ASSERTIONS 1
#endif

namespace sukima::detail {

#if defined(SUKIMA_ASSERTIONS)
/// Says which invariant does not hold and where, and aborts.
[[noreturn]] void invariant_failed(const char* invariant, const char* condition, const char* file,
                                   int line) noexcept;
#endif

}  // namespace sukima::detail

/// \param invariant  a sentence: what always holds
#if defined(SUKIMA_ASSERTIONS)
#define SUKIMA_ASSERT(condition, invariant) \
  (static_cast<bool>(condition)             \
       ? static_cast<void>(0)               \
       : ::sukima::detail::invariant_failed(invariant, #condition, __FILE__, __LINE__))
#else
#define SUKIMA_ASSERT(condition, invariant) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif
