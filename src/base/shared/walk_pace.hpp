// SPDX-License-Identifier: Apache-2.0
// Determines how often a whole structure is checked.
#pragma once

#include "assert.hpp"

#include <cstddef>

namespace sukima {

/// Counts the operations on a structure. A walk over the structure follows each of the first operations.
/// Later, a walk follows after as many operations as the structure had elements at the last walk. So walks
/// cost constant time per operation.
class walk_pace {
 public:
  /// Records the end of an operation. \param elements  in the structure now \returns whether to walk over
  /// them
  bool is_due(std::size_t elements) noexcept {
    ++since_walk_;
    if (walks_ >= always && since_walk_ < walked_) return false;
    if (walks_ < always) ++walks_;
    since_walk_ = 0;
    walked_ = elements;
    return true;
  }

 private:
  static constexpr unsigned always = 256;

  unsigned walks_ = 0;  ///< at most `always`
  std::size_t since_walk_ = 0;
  std::size_t walked_ = 0;  ///< elements of the last walk
};

}  // namespace sukima

/// SUKIMA_ASSERT_VALID at this pace.
#if defined(SUKIMA_ASSERTIONS)
#define SUKIMA_ASSERT_VALID_PACED(structure, pace, elements)     \
  do {                                                           \
    if ((pace).is_due(elements)) SUKIMA_ASSERT_VALID(structure); \
  } while (false)
#else
#define SUKIMA_ASSERT_VALID_PACED(structure, pace, elements) \
  static_cast<void>(sizeof((pace).is_due(elements)) + sizeof((structure).violated_invariant()))
#endif
