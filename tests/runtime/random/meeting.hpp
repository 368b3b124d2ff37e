// SPDX-License-Identifier: Apache-2.0
// Fibers that wait for each other.
#pragma once

#include <sukima/sukima.hpp>

#include <mutex>
#include <vector>

namespace random_programs {

/// Parks all that arrive but the last one, which resumes the others: each must have begun before one ends.
class meeting {
 public:
  explicit meeting(int expected) : missing_(expected) {}
  /// \param c  null: called without a context
  void arrive(const sukima::context* c) {
    if (is_last()) {
      for (const sukima::resumer& r : complete()) r.resume();
      return;
    }
    const auto add = [this](sukima::resumer r) {
      if (!keep(r)) r.resume();
    };
    if (c != nullptr)
      sukima::suspend(*c, add);
    else
      sukima::suspend(add);
  }

 private:
  bool is_last() {
    const std::lock_guard hold(lock_);
    return --missing_ == 0;
  }
  std::vector<sukima::resumer> complete() {
    const std::lock_guard hold(lock_);
    complete_ = true;
    return std::move(waiting_);
  }
  /// False: the last one has arrived since.
  bool keep(sukima::resumer r) {
    const std::lock_guard hold(lock_);
    if (!complete_) waiting_.push_back(r);
    return !complete_;
  }

  std::mutex lock_;
  int missing_;
  bool complete_ = false;
  std::vector<sukima::resumer> waiting_;
};

}  // namespace random_programs
