// SPDX-License-Identifier: Apache-2.0
// The CPUs that a machine receives if load that is not in the description takes a part of its share.
#pragma once

#include <deque>
#include <optional>

#include "source/demand.hpp"

namespace sukima::host {

/// Detects that a machine receives less than its share although it waits for more, and measures how much it
/// receives. Times are in seconds of a clock that never goes back.
///
/// A limit begins when the machine has received too little for 10 s. It follows what the machine receives. A
/// machine that obeys its limit no longer waits, but that does not show that the other load has ended. So the
/// limit is dropped for a trial after 30 s without waiting. After each trial that fails, that time is
/// doubled.
class received_share {
 public:
  /// Takes the measurements of the last `seconds`. \param share  the CPUs to which the machine is entitled
  void update(double now, double seconds, double share, const ran_and_waited& done);

  /// The CPUs that it receives, if that is less than its share.
  const std::optional<double>& limit() const { return limit_; }

 private:
  struct interval {
    double seconds, ran;
  };
  void remember(double seconds, double ran);
  double mean() const;
  void begin(double now);
  void follow(double now, double seconds, double share, bool is_short);

  std::deque<interval> latest_;  ///< the last 10 s
  std::optional<double> limit_;
  double short_for_ = 0;  ///< the time for which it has received too little without interruption, in seconds
  double pause_ = 0;  ///< seconds without waiting after which the limit is dropped for a trial
  double short_at_ = 0;  ///< the last time at which it received too little
  std::optional<double> dropped_at_;
};

}  // namespace sukima::host
