// SPDX-License-Identifier: Apache-2.0
// The paper's formula. Its equation 10 divides the simulated part by 4 also for 2 groups on 4 CPUs. This code
// computes equation 16, which divides by the smaller of CPUs and groups.
#include "shared/paper_formula.hpp"

#include <algorithm>

namespace sukima::objects::model {

double paper_divisor(double cpus, double groups) { return std::max(1.0, std::min(cpus, groups)); }

double paper_communication(execution_model model, const paper_costs& costs, const paper_counts& counts,
                           double divisor) {
  const model_parts parts = parts_of(model);
  const double between = costs.of(parts.between) * counts.between;
  const double within = costs.of(parts.within) * counts.within;
  if (model == execution_model::simulated) return between + within;  // equation 14
  if (parts.between == unit::thread && parts.within == unit::simulated)
    return (between + within) / divisor;  // equation 15
  return between + (parts.within == unit::simulated ? within / divisor : within);  // equation 16
}

}  // namespace sukima::objects::model
