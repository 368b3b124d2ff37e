// SPDX-License-Identifier: Apache-2.0
// Measures programs of many equal steps, step by step.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/batches.hpp"
#include "harness/harness.hpp"

namespace bench {

/// Times each step of a program of many steps.
class step_clock {
 public:
  explicit step_clock(std::size_t steps) { ends_.reserve(steps + 1); }

  void start() {
    cpu_ = process_cpu_seconds();
    ends_.assign(1, wall_seconds());
  }
  void step_is_over() { ends_.push_back(wall_seconds()); }

  /// Records the mean seconds of a step, the CPU seconds of all steps up to now, and the 99th percentile of
  /// the steps' seconds as "p99". Call it right after the last step. \pre there was a step
  void record(run& r) const {
    const double cpu = process_cpu_seconds() - cpu_;
    std::vector<double> seconds;
    seconds.reserve(ends_.size());
    for (std::size_t i = 1; i < ends_.size(); ++i) seconds.push_back(ends_[i] - ends_[i - 1]);
    r.start_at(ends_.front());
    r.record((ends_.back() - ends_.front()) / static_cast<double>(seconds.size()), cpu);
    r.field("p99", quantile(std::move(seconds), 0.99));
  }

 private:
  double cpu_ = 0;
  std::vector<double> ends_;
};

}  // namespace bench
