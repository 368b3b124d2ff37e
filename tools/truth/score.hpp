// SPDX-License-Identifier: Apache-2.0
// From results to the figures that are to be reached.
#pragma once

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
  double target = 0;    ///< what share is to be reached
  double worst = 0;     ///< the largest error, 0.1 is 10 %
  std::vector<std::string> misses;  ///< the cases in which it does not hold, the worst ones first

  [[nodiscard]] double share() const { return cases == 0 ? 1 : static_cast<double>(held) / cases; }
  [[nodiscard]] bool reached() const { return share() >= target; }
};

/// All figures that the results cover; results with foreign load are left out.
std::vector<figure> score(const std::vector<cell_result>& results);

}  // namespace sukima::truth
