// SPDX-License-Identifier: Apache-2.0
// The number of iterations between two polls of a loop: strips whose length is learnt from their times.
#pragma once

#include <sukima/detail/checks.hpp>
#include <sukima/detail/ticks.hpp>

#include <algorithm>
#include <cstdint>

namespace SUKIMA_DETAIL_NAMESPACE {

/// A strip should last about this long, so that a thief waits no longer for an answer: 1 to 2 µs.
inline constexpr std::uint64_t strip_ticks = 5000;
/// Longest strip after the first iteration, which is timed alone. Later strips grow by their measured times.
/// This limit keeps a loop whose first iteration happens to be short from running long without a poll.
inline constexpr std::int64_t second_strip = 63;
/// Longer strips end where the iteration's number is a multiple of this, so that vectors that were aligned at
/// the loop's beginning stay aligned.
inline constexpr std::int64_t strip_alignment = 64;
/// The approximate time that the beginning and the end of a strip add to its measured time: the poll, the
/// clock, and branches that are predicted wrongly. With less, a loop of a microsecond gets one strip more.
inline constexpr std::uint64_t ticks_between_strips = 45;

/// The ticks that the iterations of a strip took, from all that it took.
inline std::uint64_t ticks_of_iterations(std::uint64_t elapsed) noexcept {
  const std::uint64_t rest = elapsed > ticks_between_strips ? elapsed - ticks_between_strips : 0;
  return std::max(rest, elapsed / 4) + 1;
}
/// How many iterations take about `strip_ticks`, if `done` of them took `net`.
inline std::int64_t iterations_of_a_strip(std::int64_t done, std::uint64_t net) noexcept {
  const auto counted = static_cast<std::uint64_t>(std::min(done, std::int64_t{1} << 40));
  return std::max<std::int64_t>(static_cast<std::int64_t>(counted * strip_ticks / net), 1);
}

/// The length of strips: the grain, if there is one, or as many iterations as take about `strip_ticks`.
///
/// If one iteration takes a large part of a strip's time, strips only grow by doubling: other iterations may
/// take as long, although some end at once, such as those for the empty blocks of a sparse matrix.
class strip_length {
 public:
  /// \param grain  0: none was given
  explicit strip_length(std::int64_t grain) noexcept
      : grain_(grain), length_(grain > 0 ? grain : 1), begun_(grain > 0 ? 0 : ticks()) {}
  /// Whether this number of iterations is known to end within a strip.
  bool covers(std::int64_t left) const noexcept { return measured_ && left <= length_; }
  /// The end of the strip that begins at i.
  std::int64_t end(std::int64_t i, std::int64_t left) const noexcept {
    const std::int64_t stop = i + std::min(length_, left);
    const std::int64_t aligned = stop & -strip_alignment;
    return grain_ == 0 && length_ < left && aligned > i ? aligned : stop;
  }
  /// Learns from a strip that has ended.
  void learn(std::int64_t done) noexcept {
    if (grain_ > 0) return;
    const std::uint64_t now = ticks();
    learn_from(done, now - begun_);
    begun_ = now;
  }
  /// Learns from a strip that has ended, which took that many ticks.
  void learn_from(std::int64_t done, std::uint64_t elapsed) noexcept {
    const std::uint64_t net = ticks_of_iterations(elapsed);
    // The usual first iteration, without a division.
    if (done == 1 && growth_ == usual_growth && net <= strip_ticks / second_strip) {
      length_ = second_strip;
      measured_ = false;
      return;
    }
    const std::int64_t fit = iterations_of_a_strip(done, net);
    if (done == 1 && fit <= few_in_a_strip) growth_ = 2;
    const std::int64_t longest = done == 1 && growth_ == usual_growth ? second_strip : done * growth_;
    // The first iteration alone may not be typical. If iterations differ, no rest is known to be short.
    measured_ = done > 1 && growth_ == usual_growth;
    length_ = std::min(fit, longest);
  }
  /// Continues iteration by iteration, because the body forks.
  void forget() noexcept {
    if (grain_ > 0) return;
    length_ = 1;
    measured_ = false;
  }

 private:
  static constexpr std::int64_t few_in_a_strip = 4;
  static constexpr std::int64_t usual_growth = 1024;

  std::int64_t grain_;
  std::int64_t length_;
  std::uint64_t begun_;
  std::int64_t growth_ = usual_growth;
  bool measured_ = false;
};

}  // namespace SUKIMA_DETAIL_NAMESPACE
