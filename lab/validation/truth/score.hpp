// SPDX-License-Identifier: Apache-2.0
// From results to figures, which are compared with targets.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "truth/result.hpp"

namespace sukima::truth {

/// One figure: a share of cases in which something holds.
struct figure {
  std::string name;
  std::string demand;   ///< "within 10 %"
  int held = 0;
  int cases = 0;
  double target = 0;    ///< the share that must be reached
  double worst = 0;     ///< the largest error, 0.1 is 10 %
  std::vector<std::string> misses;  ///< the cases in which it does not hold, the worst ones first

  [[nodiscard]] double share() const { return cases == 0 ? 1 : static_cast<double>(held) / cases; }
  /// No more misses than the target expects of so many cases, rounded up: of 20 and 90 %, 2; of 100 %, none.
  [[nodiscard]] bool reached() const { return cases - held <= std::ceil(cases * (1 - target) - 1e-9); }
};

/// All figures that the results cover; results with foreign load are left out.
std::vector<figure> score(const std::vector<cell_result>& results);

}  // namespace sukima::truth
