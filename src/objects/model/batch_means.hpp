// SPDX-License-Identifier: Apache-2.0
// The mean time of a computation with its confidence interval, by the method of batch means.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace sukima::objects::model {

/// Counts computations in batches. When there are `most` batches, each two neighbours are merged into one. So
/// batches grow until their means hardly depend on each other.
class batch_means {
 public:
  static constexpr std::size_t most = 40, first_size = 64;

  /// Adds a computation that ends at this time. \returns whether a batch has ended
  bool count(double now) {
    if (++in_batch_ < size_) return false;
    lengths_[batches_++] = now - began_;
    began_ = now;
    in_batch_ = 0;
    if (batches_ < most) return true;
    for (std::size_t i = 0; i < most / 2; i++) lengths_[i] = lengths_[2 * i] + lengths_[2 * i + 1];
    batches_ = most / 2;
    size_ *= 2;
    return true;
  }

  struct estimate {
    double mean = 0;  ///< time of a computation
    double half_width = 0;  ///< of the 95 % confidence interval; infinite if there are too few batches
  };

  /// Returns the estimate so far. The first tenth of the batches, in which buffers fill, does not count.
  estimate now() const {
    const std::size_t first = (batches_ + 9) / 10, count = batches_ - first;
    if (count < 8) return {0, INFINITY};
    double sum = 0, squares = 0;
    for (std::size_t i = first; i < batches_; i++) sum += lengths_[i];
    const double mean = sum / static_cast<double>(count);
    for (std::size_t i = first; i < batches_; i++) squares += (lengths_[i] - mean) * (lengths_[i] - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(count - 1));
    // Student's quantile for 7 to 38 degrees of freedom is between 2.36 and 2.02.
    const double quantile = 1.97 + 2.8 / static_cast<double>(count - 1);
    const double batch = static_cast<double>(size_);
    return {mean / batch, quantile * deviation / std::sqrt(static_cast<double>(count)) / batch};
  }

 private:
  std::array<double, most> lengths_{};
  std::size_t batches_ = 0;
  std::uint64_t size_ = first_size, in_batch_ = 0;
  double began_ = 0;
};

}  // namespace sukima::objects::model
