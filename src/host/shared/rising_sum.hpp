// SPDX-License-Identifier: Apache-2.0
// A sum of counters that never falls.
#pragma once

#include <base/shared/assert.hpp>

#include <cstdint>
#include <map>

namespace sukima::host {

/// Sums the counters of a machine's virtual CPUs. A virtual CPU that is unplugged takes its counter with it,
/// and when it is plugged in again, the counter begins at 0; what it had counted stays in the sum.
class rising_sum {
 public:
  /// Takes the present value of one counter. A value below the last one means that the counter began again.
  void count(std::uint32_t counter, double now) {
    double& last = last_.try_emplace(counter, 0).first->second;
    const double more = now < last ? now : now - last;
    SUKIMA_ASSERT(more >= 0, "time passes forwards, so that the sum never falls");
    sum_ += more;
    last = now;
  }

  /// Whether a counter was taken.
  bool has_counted() const { return !last_.empty(); }
  double sum() const { return sum_; }

 private:
  std::map<std::uint32_t, double> last_;
  double sum_ = 0;
};

}  // namespace sukima::host
