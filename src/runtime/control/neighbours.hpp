// SPDX-License-Identifier: Apache-2.0
// How many workers are worth running beside other programs that use the CPUs.
#pragma once

#include "control/enough_workers.hpp"

#include <string>
#include <vector>

struct sukima_capacity_estimator;

namespace sukima::detail {

/// Estimates from the neighbours' control groups the smallest number of workers that gets nearly all CPU that
/// this process can get. More workers would only wait for each other. Only one thread at a time may use it.
class neighbours {
 public:
  neighbours() = default;
  ~neighbours();
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  /// \return false if there is no memory
  bool open();
  [[nodiscard]] bool is_open() const noexcept { return estimator_ != nullptr; }

  /// Takes a sample.
  /// \return how many workers to run, at most `most`; fewer than before only after a second of such samples;
  /// `most` if the neighbours are invisible, or nothing was measured
  unsigned worth_running(unsigned most);

  /// The reason for the latest answer.
  [[nodiscard]] std::string reason() const;

 private:
  sukima_capacity_estimator* estimator_ = nullptr;
  enough_workers enough_;
  unsigned answer_ = 0;
  std::vector<double> gets_;  ///< the CPU that 1, 2, … workers would get; kept to reuse its memory
  double last_sample_ = 0;
  double with_answer_ = 0;  ///< CPUs that this number of workers gets
  double with_most_ = 0;  ///< CPUs that as many workers as are allowed get
};

}  // namespace sukima::detail
