// SPDX-License-Identifier: Apache-2.0
// SUKIMA_ASSERT evaluates the invariants that the comments state.
//
// The runtime and the concurrent objects contain hot paths, so their assertions are on in Debug and in the
// stress build, and off in Release. The other parts link sukima_assertions, which turns them on in each build
// with tests. If they are off, a condition is compiled but never evaluated. tests/memory explores each access
// of the protocols, so assertions add no accesses there.
#pragma once

#if !defined(NDEBUG) && !defined(SUKIMA_ATOMICS) && !defined(SUKIMA_ASSERTIONS)
#define SUKIMA_ASSERTIONS 1
#endif

#include <cstdio>
#include <cstdlib>

namespace sukima::detail {

/// Prints which invariant does not hold and where, and aborts.
[[noreturn, gnu::cold, gnu::noinline]] inline void invariant_failed(const char* invariant,
                                                                    const char* condition, const char* file,
                                                                    int line) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "sukima: an invariant does not hold: %s\n  %s:%d: %s\n", invariant, file, line,
               condition);
  std::abort();
}

/// Checks a structure when a function ends, regardless of the way in which it returns.
template <class Structure>
class valid_at_end {
 public:
  valid_at_end(const Structure& structure, const char* name, const char* file, int line) noexcept
      : structure_(structure), name_(name), file_(file), line_(line) {}
  valid_at_end(const valid_at_end&) = delete;
  valid_at_end& operator=(const valid_at_end&) = delete;
  ~valid_at_end() {
    if (const char* const violated = structure_.violated_invariant(); violated != nullptr)
      invariant_failed(violated, name_, file_, line_);
  }

 private:
  const Structure& structure_;
  const char* name_;
  const char* file_;
  int line_;
};

}  // namespace sukima::detail

/// \param invariant  a sentence that states the invariant
#if defined(SUKIMA_ASSERTIONS)
#define SUKIMA_ASSERT(condition, invariant) \
  (static_cast<bool>(condition)             \
       ? static_cast<void>(0)               \
       : ::sukima::detail::invariant_failed(invariant, #condition, __FILE__, __LINE__))
#else
#define SUKIMA_ASSERT(condition, invariant) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif

/// Checks a whole structure.
/// \param structure  its member violated_invariant() returns the first invariant that does not hold, as a
///                   sentence, or null
#if defined(SUKIMA_ASSERTIONS)
#define SUKIMA_ASSERT_VALID(structure)                                                      \
  do {                                                                                      \
    if (const char* const violated = (structure).violated_invariant(); violated != nullptr) \
      ::sukima::detail::invariant_failed(violated, #structure, __FILE__, __LINE__);         \
  } while (false)
#else
#define SUKIMA_ASSERT_VALID(structure) static_cast<void>(sizeof((structure).violated_invariant()))
#endif

/// Checks the structure at the end of the function that contains this line.
#if defined(SUKIMA_ASSERTIONS)
#define SUKIMA_ASSERT_VALID_AT_END(structure) \
  const ::sukima::detail::valid_at_end checked_at_end(structure, #structure, __FILE__, __LINE__)
#else
#define SUKIMA_ASSERT_VALID_AT_END(structure) SUKIMA_ASSERT_VALID(structure)
#endif
