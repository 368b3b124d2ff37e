// SPDX-License-Identifier: Apache-2.0
// Decides whether and how to divide an island whose objects compute too much for one worker.
//
// Objects that streams connect begin in one island. A message within it costs a few nanoseconds, a message to
// another worker costs hundreds, and waking that worker costs microseconds. So an island is divided only if a
// worker is idle, its objects compute long for each message, and several of them could compute at once. A
// work_sampler measures that; find_leavers chooses the objects that move to a new island.
//
// Times are in ticks (sukima/detail/ticks.hpp). Three ticks count as a nanosecond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/slice.hpp"

namespace sukima::objects::detail {

/// Samples the operations of an island's objects one by one: when the island begins, and again after slices
/// that took long.
class work_sampler {
 public:
  /// The limits of a sample: operations, and time.
  static constexpr unsigned most_operations = 64;
  static constexpr std::uint64_t most_ticks = 6'000'000;
  /// Objects that compute less than 10 µs for an operation stay together.
  static constexpr std::uint64_t long_operation = 30'000;
  /// Largest number of long slices in a row that are skipped after samples that led to no division.
  static constexpr unsigned most_skipped = 1024;

  bool is_sampling() const noexcept { return sampling_; }
  /// Begins a sample.
  void begin(const clock_reading& now) noexcept {
    began_ = now;
    sampling_ = true;
    operations_ = 0;
    ticks_ = parallel_ = 0;
  }
  /// Adds an operation. \param took ticks for which its object computed or waited
  /// \param others_were_ready whether another object could have run at the same time
  /// \returns whether the sample is complete: finish() must follow
  bool add(std::uint64_t took, bool others_were_ready) noexcept {
    ++operations_;
    ticks_ += took;
    if (others_were_ready) parallel_ += took;
    return operations_ == most_operations || ticks_ >= most_ticks;
  }
  /// Ends the sample. \returns whether two workers could do the island's work in less time than one
  bool finish(const clock_reading& now) noexcept;
  /// Whether another sample should begin, after a slice outside samples. O(1).
  bool wants_sample(std::uint64_t took, unsigned messages) noexcept {
    if (took < messages * long_operation) return false;
    if (skip_ != 0) {
      --skip_;
      return false;
    }
    return true;
  }
  /// Delays the next sample, after one that led to no division.
  void back_off() noexcept {
    skipped_ = skipped_ == 0 ? 1 : skipped_ < most_skipped ? 2 * skipped_ : most_skipped;
    skip_ = skipped_;
  }

 private:
  clock_reading began_;
  bool sampling_ = false;
  unsigned operations_ = 0;
  std::uint64_t ticks_ = 0;
  std::uint64_t parallel_ = 0;  ///< the part of ticks_ in which other objects were ready
  unsigned skip_ = 0, skipped_ = 0;  ///< long slices still to skip, and skipped after the last sample
};

/// An object of an island that may be divided.
struct sampled_object {
  std::uint64_t load = 0;  ///< ticks of computing in the sample
  bool can_leave = false;
};
/// A stream between objects of the island.
struct sampled_stream {
  std::vector<std::size_t> objects;  ///< holders of its ends
  std::uint64_t cost = 0;  ///< additional ticks of its messages if it led to another island
};

/// Returns the additional ticks of that many messages if they are sent between islands instead of within one.
/// With a small capacity nearly each message wakes a worker; with a large one a single wake-up serves many
/// messages.
constexpr std::uint64_t cost_between_islands(std::uint64_t messages, std::uint64_t capacity) noexcept {
  constexpr std::uint64_t message = 600, wake = 60'000, most_served = 16;
  return messages * (message + wake / (capacity < most_served ? capacity : most_served));
}

/// Returns the objects that should move to another worker; none if that would not save a fifth of the time.
/// \par Complexity quadratic in the number of objects with a load (a sample has at most 64 of them), linear
///      in the number of the others
std::vector<std::size_t> find_leavers(std::span<const sampled_object> objects,
                                      std::span<const sampled_stream> streams);

}  // namespace sukima::objects::detail
