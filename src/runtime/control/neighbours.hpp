// SPDX-License-Identifier: Apache-2.0
// How many workers are worth running beside others that use the CPUs.
#pragma once

#include "control/enough_workers.hpp"

#include <string>
#include <vector>

struct sukima_capacity_estimator;

namespace sukima::detail {

/// Estimates from the neighbours' control groups the smallest number of workers that gets nearly all CPU that
/// this process can get. More workers would only wait for each other. For one thread at a time.
class neighbours {
 public:
  neighbours() = default;
  ~neighbours();
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  /// False if there is no memory for it.
  bool open();
  [[nodiscard]] bool is_open() const noexcept { return estimator_ != nullptr; }

  /// Takes a sample.
  /// \return how many workers to run, at most `most`; fewer than before only after a second of such samples;
  ///         `most` where the neighbours cannot be seen, or nothing was measured
  unsigned worth_running(unsigned most);

  /// Why; of the latest answer.
  [[nodiscard]] std::string reason() const;

 private:
  sukima_capacity_estimator* estimator_ = nullptr;
  enough_workers enough_;
  unsigned answer_ = 0;
  std::vector<double> gets_;  ///< what 1, 2, … workers would get; kept for its memory
  double last_sample_ = 0;
  double with_answer_ = 0;  ///< CPUs that the answer gets
  double with_most_ = 0;  ///< CPUs that as many as are allowed get
};

}  // namespace sukima::detail
