// SPDX-License-Identifier: Apache-2.0
// How many workers get nearly all CPU, computed from the CPU that each number of workers would get.
#pragma once

#include "constants.hpp"

#include <algorithm>
#include <vector>

namespace sukima::detail {

/// Finds the smallest number of workers that gets nearly all CPU. Each estimate errs by several percent, and
/// there are several in a second. So it decides by the average of a second, and adds workers at once only if
/// much CPU is free.
class enough_workers {
 public:
  /// Adds an estimate.
  /// \param since  seconds since the last estimate
  /// \param gets  the CPUs that 1, 2, … workers would get, the last for as many as may run; never empty
  /// \param certain  false if the estimate is only a guess, which is no reason to run fewer workers
  /// \return how many to run; at first as many as may run
  unsigned judge(double since, const std::vector<double>& gets, bool certain) {
    const auto most = static_cast<unsigned>(gets.size());
    if (most != sums_.size()) begin(most);
    answer_ = answer_ == 0 ? most : std::min(answer_, most);
    seconds_ += since;
    ++estimates_;
    if (certain) {
      ++certain_;
      for (unsigned k = 0; k < most; ++k) sums_[k] += gets[k];
      if (gets[answer_ - 1] < tuning::plainly_too_little_cpu * gets.back()) return answer_ = decide(gets);
    }
    if (seconds_ < tuning::enough_workers_window_s) return answer_;
    // A small number is kept while it loses hardly more CPU than when it was chosen.
    const bool known = certain_ * 2 > estimates_;
    if (!known)
      answer_ = most;
    else if (sums_[answer_ - 1] < tuning::still_enough_cpu * sums_.back() || smallest(sums_) < answer_)
      answer_ = smallest(sums_);
    begin(most);
    return answer_;
  }

 private:
  static unsigned smallest(const std::vector<double>& gets) {
    unsigned k = 1;
    while (gets[k - 1] < tuning::nearly_all_cpu * gets.back()) ++k;
    return k;
  }
  unsigned decide(const std::vector<double>& gets) {
    begin(static_cast<unsigned>(gets.size()));
    return smallest(gets);
  }
  void begin(unsigned most) {
    seconds_ = 0;
    estimates_ = certain_ = 0;
    sums_.assign(most, 0);
  }

  unsigned answer_ = 0;  ///< 0: none yet
  double seconds_ = 0;  ///< since the last decision
  unsigned estimates_ = 0;  ///< since then
  unsigned certain_ = 0;  ///< the estimates among them that are in the sums
  std::vector<double> sums_;
};

}  // namespace sukima::detail
