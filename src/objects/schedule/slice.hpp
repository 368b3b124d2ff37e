// SPDX-License-Identifier: Apache-2.0
// Slices: the messages that an object handles in a row before other objects of its island run.
//
// The usual slice has 64 messages. If objects compute long for each message, a slice has as many messages as
// fit into 1 ms. Reading the clock at each message could cost more than the message, so it is read once in a
// slice. A slice may also be long because its island waited for messages, or because its thread had no CPU.
// So after a long slice the kernel's clocks show how much of it was spent computing.
#pragma once

#include <sukima/objects/core.hpp>

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace sukima::objects::detail {

/// The clocks at one moment.
struct clock_reading {
  std::uintptr_t thread = 0;  ///< the thread to which the CPU time belongs
  std::uint64_t cpu_ns = 0, wall_ns = 0;
  std::uint64_t ticks = 0;  ///< sukima/detail/ticks.hpp
};

/// Returns the time of a clock of the kernel.
std::uint64_t nanoseconds_of(clockid_t which) noexcept;

/// Reads the clocks of this thread. \param ticks the present ticks
clock_reading read_clocks(std::uint64_t ticks) noexcept;

/// Determines the length of an island's slices.
class slice_length {
 public:
  /// The wanted length of a slice: about 1 ms.
  static constexpr std::uint64_t most_ticks = 3'000'000;
  /// Computing for longer than this in a slice of 64 messages makes the next ones shorter.
  static constexpr std::uint64_t long_ms = 8;
  /// Number of short slices in a row, with room for 64 messages each, after which slices are long again.
  static constexpr unsigned calm_slices = 256;

  /// Returns the number of messages until the clock is read again, 1 to 64.
  unsigned messages() const noexcept { return messages_; }
  /// Counts a slice of 64 messages that took fewer ticks than the limit. \returns false if it took longer, or
  /// had fewer messages; then `ended` must follow. O(1).
  bool pass_quick(std::uint64_t took, std::uint64_t than) noexcept {
    if (messages_ != island::slice || took >= than) return false;
    in_quick_ones_ += took;
    return true;
  }
  /// Counts a slice that has ended. O(1).
  /// \param took ticks of the slice
  /// \param read returns a clock_reading; it is called after long slices
  template <class Read> void ended(std::uint64_t took, Read read) noexcept {
    if (messages_ == island::slice) {
      if (took <= long_ms * most_ticks)
        in_quick_ones_ += took;
      else
        judge(read());
    } else if (took > most_ticks) {
      shrink(took);
    } else if (took / messages_ * island::slice > most_ticks) {
      calm_ = 0;
    } else if (++calm_ == calm_slices) {
      messages_ = island::slice;
      before_.reset();
    }
  }

 private:
  /// Makes slices shorter if a long slice was spent computing. \param now the clocks after that slice
  void judge(const clock_reading& now) noexcept {
    const std::optional<clock_reading> before = std::exchange(before_, now);
    const double in_quick_ones = static_cast<double>(std::exchange(in_quick_ones_, 0));
    // Before the first reading, and before a reading on another thread, the computing time is unknown.
    if (!before || before->thread != now.thread || now.ticks <= before->ticks) return;
    const double tick_ns =
        static_cast<double>(now.wall_ns - before->wall_ns) / static_cast<double>(now.ticks - before->ticks);
    const double computed_ns = static_cast<double>(now.cpu_ns - before->cpu_ns) - in_quick_ones * tick_ns;
    if (computed_ns > 1e6 * long_ms) shrink(static_cast<std::uint64_t>(3 * computed_ns));
  }

  void shrink(std::uint64_t took) noexcept {
    messages_ = static_cast<unsigned>(std::max<std::uint64_t>(most_ticks * messages_ / took, 1));
    calm_ = 0;
  }

  unsigned messages_ = island::slice;
  unsigned calm_ = 0;  ///< short slices in a row
  std::uint64_t in_quick_ones_ = 0;  ///< ticks in slices of 64 messages since `before_`
  std::optional<clock_reading> before_;  ///< the clocks at the last long slice of 64 messages
};

}  // namespace sukima::objects::detail
