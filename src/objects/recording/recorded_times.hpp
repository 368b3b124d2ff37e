// SPDX-License-Identifier: Apache-2.0
// The arithmetic of recorded times: means of computing without the cost of recording.
//
// Recording lengthens the time between two operations: the end of the first operation and the beginning of
// the second one take their slow paths. If an object does nothing between them, no other time passes, so a
// program whose objects do nothing shows the cost. The cost is subtracted from every interval, not only from
// the mean of cheap objects. An interval after a wait is longer, because the processor mispredicts the
// returns from the operation after the switch to this object. Predictions count that as a part of the switch.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

namespace sukima::objects::detail {

/// An operation on a stream.
enum class recorded_side { sending, receiving };

/// Ticks that recording adds to each end of an interval, by the operation at that end.
struct recording_cost {
  double sending = 0;
  double receiving = 0;
  double waiting = 0;  ///< additional ticks if the operation at the beginning has waited

  double of(recorded_side side) const noexcept {
    return side == recorded_side::sending ? sending : receiving;
  }
  /// Returns the cost of an interval.
  /// \param before, after the operations at its ends; empty: the object begins, ends or sleeps there
  /// \param waited whether the operation before the interval has waited
  double between(std::optional<recorded_side> before, std::optional<recorded_side> after,
                 bool waited = false) const noexcept {
    return (before ? of(*before) : 0) + (after ? of(*after) : 0) + (waited ? waiting : 0);
  }
};

/// Sums of the ticks of computing for messages, and of sleeping in the kernel.
struct recorded_times {
  double count = 0, sum = 0, squares = 0, blocked = 0;

  /// Adds that many messages, which together took so many ticks. The ticks may be a little below 0, because a
  /// typical cost of recording was subtracted.
  void add(double messages, double ticks, double blocked_ticks = 0) noexcept {
    count += messages;
    blocked += blocked_ticks;
    sum += ticks;
    squares += ticks * ticks / messages;
  }
  /// Returns the times without the earlier ones, which are a part of these.
  recorded_times after(const recorded_times& earlier) const noexcept {
    return {count - earlier.count, sum - earlier.sum, squares - earlier.squares, blocked - earlier.blocked};
  }
  /// Returns the mean ticks of one message, never below 0.
  double mean() const noexcept { return count > 0 ? std::max(0.0, sum / count) : 0; }
  /// Returns the mean ticks of one message in which the object's thread sleeps in the kernel.
  double mean_blocked() const noexcept { return count > 0 ? blocked / count : 0; }
  /// Returns the standard deviation of the ticks of one message.
  double spread() const noexcept {
    if (count <= 1) return 0;
    const double signed_mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - signed_mean * signed_mean));
  }
};

}  // namespace sukima::objects::detail
