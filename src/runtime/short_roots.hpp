// SPDX-License-Identifier: Apache-2.0
// Which roots of a thread are expected to end at once, so that publishing their first fork is not worth it.
//
// A root's first fork is published before its first branch begins, because that branch may never poll. If
// both branches take some nanoseconds, publishing and reclaiming take more than half of the whole call. So
// each thread remembers, for each call that enters, how many roots in a row ended before a thief may take
// anything. After enough of them the first fork of the next root ignores its poll and leaves the limit
// raised, so the second poll publishes as always.
//
// A root that was expected to be short and lasts longer than the root warm-up resets the count. It also
// doubles the number of short roots that are needed from then on. So a call at which each n-th root is long
// is predicted wrongly about log n times and then never again. An interrupt may make a short root look long.
// Therefore `forgiveness` times the needed number of short roots in a row halve that number. Only a root
// whose branches do not poll loses anything by a wrong guess.
#pragma once

#include "constants.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sukima::detail {

/// Of one thread.
class short_roots {
 public:
  /// The code of a root: one for each call that enters.
  using code = const void*;

  /// Whether a root with that code is expected to end at once.
  bool expects(code root) const noexcept {
    const history& p = histories_[index_of(root)];
    return p.root == root && p.in_a_row >= p.needed;
  }
  /// Records how long a root with that code took.
  /// \param took  ticks
  /// \param short_below  fewer ticks than this are short; at least `long_from` are long
  void note(code root, std::uint64_t took, std::uint64_t short_below, std::uint64_t long_from) noexcept {
    history& p = histories_[index_of(root)];
    if (p.root != root) p = {root, 0, tuning::short_roots_needed};
    if (took < short_below) {
      if (++p.in_a_row < forgiveness * p.needed) return;
      p.needed = std::max(p.needed / 2, tuning::short_roots_needed);
      p.in_a_row = p.needed;
      return;
    }
    if (took >= long_from && p.in_a_row >= p.needed && p.needed < tuning::most_short_roots_needed)
      p.needed *= 2;
    p.in_a_row = 0;
  }

 private:
  static constexpr std::uint32_t forgiveness = 16;

  struct history {
    code root = nullptr;
    std::uint32_t in_a_row = 0;
    std::uint32_t needed = tuning::short_roots_needed;
  };
  static std::size_t index_of(code root) noexcept { return reinterpret_cast<std::uintptr_t>(root) / 16 % 8; }

  std::array<history, 8> histories_;  ///< found by the code's address; a later code replaces an earlier one
};

}  // namespace sukima::detail
