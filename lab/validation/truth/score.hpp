// SPDX-License-Identifier: Apache-2.0
// Computes figures from results, and compares them with targets.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "truth/result.hpp"

namespace sukima::truth {

/// One figure: the share of cases that meet a demand.
struct figure {
  std::string name;
  std::string demand;   ///< "within 10 %"
  int held = 0;
  int cases = 0;
  double target = 0;    ///< the least share
  double worst = 0;     ///< the largest error, 0.1 is 10 %
  std::vector<std::string> misses;  ///< the cases that miss the demand, the worst ones first

  [[nodiscard]] double share() const { return cases == 0 ? 1 : static_cast<double>(held) / cases; }
  /// Returns whether there are no more misses than the target allows, rounded up: 2 of 20 cases at 90 %, none
  /// at 100 %.
  [[nodiscard]] bool reached() const { return cases - held <= std::ceil(cases * (1 - target) - 1e-9); }
};

/// Computes all figures that the results cover, without results with foreign load.
std::vector<figure> score(const std::vector<cell_result>& results);

}  // namespace sukima::truth
