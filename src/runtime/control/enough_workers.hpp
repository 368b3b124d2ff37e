// SPDX-License-Identifier: Apache-2.0
// How many workers get nearly all, by what each number of them would get.
#pragma once

#include <algorithm>
#include <vector>

namespace sukima::detail {

/// Decides from estimates that come several times a second and each of which errs by several percent: on the
/// average of a second. Only CPU that is plainly there for the taking is taken at once.
class enough_workers {
 public:
  /// One estimate more.
  /// \param since seconds since the last one
  /// \param gets the CPUs that 1, 2, … workers would get, the last for as many as may run; never empty
  /// \param certain false if that is only a guess: a guess is no reason to give a worker up
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
      if (gets[answer_ - 1] < plainly_less * gets.back()) return answer_ = decide(gets);
    }
    if (seconds_ < window) return answer_;
    // Who runs few goes on with that if he loses hardly more than when that was chosen.
    const bool known = certain_ * 2 > estimates_;
    if (!known)
      answer_ = most;
    else if (sums_[answer_ - 1] < still_enough * sums_.back() || smallest(sums_) < answer_)
      answer_ = smallest(sums_);
    begin(most);
    return answer_;
  }

 private:
  static constexpr double window = 1;  ///< seconds
  static constexpr double nearly_all = 0.95;  ///< fewer are enough if they get this part
  static constexpr double still_enough = 0.9;  ///< and stay enough while they get this part
  static constexpr double plainly_less = 0.75;  ///< less is not waited out

  static unsigned smallest(const std::vector<double>& gets) {
    unsigned k = 1;
    while (gets[k - 1] < nearly_all * gets.back()) ++k;
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
  unsigned certain_ = 0;  ///< those of them that are in the sums
  std::vector<double> sums_;
};

}  // namespace sukima::detail
