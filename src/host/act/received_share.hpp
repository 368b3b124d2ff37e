// SPDX-License-Identifier: Apache-2.0
// What a machine receives where load that the description does not have keeps its share from it.
#pragma once

#include <deque>
#include <optional>

#include "source/demand.hpp"

namespace sukima::host {

/// Finds out whether a machine receives less than its share though it waits for more, and how much it
/// receives then. Times are seconds of a clock that does not go back.
///
/// A limit begins when the machine has received too little for 10 s. It follows what the machine receives. A
/// machine that obeys its limit waits no more, which does not show that the load has ended. So the limit is
/// dropped for a trial after 30 s without waiting, and after twice as long each time when the trial fails.
class received_share {
 public:
  /// Takes an interval of `seconds` that ends now. \param share  CPUs to which the machine is entitled
  void see(double now, double seconds, double share, const ran_and_waited& done);

  /// CPUs that it receives, if that is less than its share.
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
  double short_for_ = 0;  ///< seconds in which it has received too little without a break
  double pause_ = 0;  ///< seconds without waiting until the limit is dropped for a trial
  double short_at_ = 0;  ///< the last time that it received too little
  std::optional<double> dropped_at_;
};

}  // namespace sukima::host
