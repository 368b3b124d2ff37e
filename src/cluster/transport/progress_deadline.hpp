// SPDX-License-Identifier: Apache-2.0
// The deadline of an activity that consists of steps.
#pragma once

#include "transport/transport.hpp"

namespace sukima::cluster {

/// Computes a deadline that moves with each step, however long all steps take together.
class progress_deadline {
 public:
  /// \param patience  the longest time without a step
  explicit progress_deadline(std::chrono::milliseconds patience) : patience_(patience) {}
  /// Returns when to give up if no further step happens.
  /// \param steps  a number that differs after each step
  clock::time_point after(std::uint64_t steps, clock::time_point now) {
    if (!began_ || steps != steps_) end_ = now + patience_;
    began_ = true;
    steps_ = steps;
    return end_;
  }

 private:
  std::chrono::milliseconds patience_;
  bool began_ = false;
  std::uint64_t steps_ = 0;
  clock::time_point end_{};
};

}  // namespace sukima::cluster
