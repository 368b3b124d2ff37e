// SPDX-License-Identifier: Apache-2.0
// Predicts which calls end at once, because calls of the same code did so before: roots (short_roots.hpp) and
// branches with a hint (place/hints.hpp).
//
// If code was short enough many times in a row, it is expected to be short again. A call that was expected to
// be short and is long resets the count. It also doubles the number of short calls that are needed from then
// on. So if each n-th call of some code is long, the prediction is wrong about log n times and then never
// again, provided that long calls are recorded. (Of branches with a hint, only reported ones are.) An
// interrupt may make a short call look long. Therefore `forgiveness` times the needed number of short calls
// in a row halve that number.
#pragma once

#include "constants.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sukima::detail {

/// The predictions of one thread. \tparam Size  the number of different codes for which it has a history; a
/// later code may replace an earlier one
template <std::size_t Size> class short_calls {
 public:
  using code = const void*;

  /// Whether a call of that code is expected to end at once.
  bool expects(code called) const noexcept {
    const history& p = histories_[index_of(called)];
    return p.called == called && p.in_a_row >= p.needed;
  }
  /// Records how long a call of that code took.
  /// \param took  ticks
  /// \param short_below  fewer ticks than this are short; at least `long_from` are long
  void note(code called, std::uint64_t took, std::uint64_t short_below, std::uint64_t long_from) noexcept {
    history& p = histories_[index_of(called)];
    if (p.called != called) p = {called, 0, tuning::short_calls_needed};
    if (took < short_below) {
      if (++p.in_a_row < forgiveness * p.needed) return;
      p.needed = std::max(p.needed / 2, tuning::short_calls_needed);
      p.in_a_row = p.needed;
      return;
    }
    if (took >= long_from && p.in_a_row >= p.needed && p.needed < tuning::most_short_calls_needed)
      p.needed *= 2;
    p.in_a_row = 0;
  }
  /// Records a call of that code that was expected to be short, and whose length is unknown. So the next call
  /// is not expected to be short; if it is short, the one after it is expected to be short again.
  void doubt(code called) noexcept {
    history& p = histories_[index_of(called)];
    if (p.called == called && p.in_a_row >= p.needed) p.in_a_row = p.needed - 1;
  }

 private:
  static constexpr std::uint32_t forgiveness = 16;

  struct history {
    code called = nullptr;
    std::uint32_t in_a_row = 0;
    std::uint32_t needed = tuning::short_calls_needed;
  };
  static std::size_t index_of(code called) noexcept {
    return reinterpret_cast<std::uintptr_t>(called) / 16 % Size;
  }

  std::array<history, Size> histories_;  ///< found by the code's address
};

}  // namespace sukima::detail
