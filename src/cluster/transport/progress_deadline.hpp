// SPDX-License-Identifier: Apache-2.0
// When to give up what goes on in steps.
#pragma once

#include "transport/transport.hpp"

namespace sukima::cluster {

/// After a time without a step, however long all of them take.
class progress_deadline {
 public:
  /// \param patience  the longest time without a step
  explicit progress_deadline(std::chrono::milliseconds patience) : patience_(patience) {}
  /// When to give up if there is no other step.
  /// \param steps  another number after each step
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
