// SPDX-License-Identifier: Apache-2.0
// How much CPU a vCPU wants; see demand.hpp.
#include "source/demand.hpp"

#include <algorithm>
#include <cmath>

namespace sukima::host {
namespace {

/// Three time constants, after which a twentieth is left, are 30 s.
constexpr double fall_seconds = 10;
/// A use of this part of the cap is all of it: quotas are enforced by periods, and counted with an error.
constexpr double at_cap = 0.95;

}  // namespace

double next_demand(std::optional<double> before, double used, double seconds) {
  const double wanted = std::clamp(used * 1.1 + 0.05, 0.0, 1.0);
  if (!before || wanted >= *before) return wanted;
  return wanted + (*before - wanted) * std::exp(-seconds / fall_seconds);
}

bool uses_whole_cap(double ran, double seconds, std::optional<double> cap) {
  return cap && ran >= at_cap * *cap * seconds;
}

}  // namespace sukima::host
