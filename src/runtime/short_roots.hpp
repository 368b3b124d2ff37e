// SPDX-License-Identifier: Apache-2.0
// Which roots of a thread are expected to end at once, so that publishing their first fork is not worth it.
//
// A root's first fork is published before its first branch begins, because that branch may never poll. If
// both branches take some nanoseconds, publishing and reclaiming take more than half of the whole call. So
// each thread counts, for each call that enters, how many roots in a row ended before a thief may take their
// work. After enough of them the first fork of the next root ignores its poll and leaves the limit raised, so
// the second poll publishes as usual.
//
// A root that was expected to be short counts as long if it takes longer than the root warm-up. A wrong guess
// costs time only if the branches of the root do not poll.
#pragma once

#include "short_calls.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace sukima::detail {

/// The code of a root: one for each call that enters.
using short_roots = short_calls<8>;

/// Which of these roots should begin unannounced (fiber/unannounced.hpp). If such a root must be announced
/// later, it costs a little more than one that is announced at its beginning. So after each such root there
/// is a pause, twice as long as the last pause. Each root that was never announced halves the next pause.
class unannounced_roots {
 public:
  using code = short_roots::code;

  class history {
   public:
    /// Whether the next root should begin unannounced; counts the pause down.
    bool tries() noexcept {
      if (left_ == 0) return true;
      --left_;
      return false;
    }
    /// Records whether a root that began unannounced was announced later.
    void note(bool announced) noexcept {
      pause_ = announced ? std::min(2 * pause_ + 1, longest_pause) : pause_ / 2;
      if (announced) left_ = pause_;
    }

   private:
    friend class unannounced_roots;
    code entered_ = nullptr;
    std::uint32_t pause_ = 0;
    std::uint32_t left_ = 0;
  };

  history& of(code entered) noexcept {
    history& p = histories_[reinterpret_cast<std::uintptr_t>(entered) / 16 % histories_.size()];
    if (p.entered_ != entered) {
      p = {};
      p.entered_ = entered;
    }
    return p;
  }

 private:
  static constexpr std::uint32_t longest_pause = 1023;

  std::array<history, 8> histories_;
};

/// The lengths of a thread's roots that were expected to be short, and when the thread reads the clock for
/// that.
///
/// If entries follow one another, an unannounced root begins after the one before has ended. So if it ends
/// soon after that, it is short, and the time of its beginning is not needed. If it does not, its length is
/// unknown, because the thread may only have paused. Then the next roots are timed, twice as many each time.
/// So if each n-th root is long, one of these is timed after about log n others, and the number of short
/// roots that are needed grows (short_calls.hpp). A thread that pauses often reads the clock twice in each
/// entry.
class timed_roots {
 public:
  using code = short_roots::code;

  bool expects(code entered) const noexcept { return roots_.expects(entered); }
  /// Whether the time at which the next unannounced root begins must be read.
  bool is_next_timed() const noexcept { return !in_succession_ || timed_left_ != 0; }
  /// The tick at which the last unannounced root ended.
  std::uint64_t ended_at() const noexcept { return ended_at_; }

  /// Records a root that was not announced.
  /// \param before  ended_at() when it began
  /// \param begun   0: not read
  /// \returns whether it was short
  bool note_unannounced(code entered, std::uint64_t before, std::uint64_t begun, std::uint64_t now,
                        std::uint64_t long_from) noexcept {
    const bool is_timed = begun != 0;
    const std::uint64_t took_at_most = now - (is_timed ? begun : before);
    // No idle worker was woken, so it is long only if the root warm-up has passed.
    const bool is_short = took_at_most < long_from;
    if (is_timed || is_short)
      roots_.note(entered, took_at_most, long_from, long_from);
    else
      doubt(entered);
    if (is_timed && timed_left_ != 0) --timed_left_;
    in_succession_ = now - before < long_from;
    ended_at_ = now;
    return is_short;
  }
  /// Records a root that was announced before it ended. \param took  empty: the time of its beginning was not
  /// read
  void note_announced(code entered, std::optional<std::uint64_t> took, std::uint64_t short_below,
                      std::uint64_t long_from) noexcept {
    if (took)
      roots_.note(entered, *took, short_below, long_from);
    else
      doubt(entered);
    in_succession_ = false;
  }

 private:
  void doubt(code entered) noexcept {
    roots_.doubt(entered);
    timed_in_a_row_ = std::min(2 * timed_in_a_row_ + 1, most_timed_in_a_row);
    timed_left_ = timed_in_a_row_;
  }

  static constexpr std::uint32_t most_timed_in_a_row = 1023;

  short_roots roots_;
  std::uint64_t ended_at_ = 0;
  bool in_succession_ = false;  ///< whether the last root followed another; expected of the next one
  std::uint32_t timed_in_a_row_ = 0;
  std::uint32_t timed_left_ = 0;
};

}  // namespace sukima::detail
