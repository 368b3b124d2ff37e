// SPDX-License-Identifier: Apache-2.0
// Computes the level of a subproblem: the point at which the sum of the demands, which grows piecewise
// linearly, equals the room.
#include "estimate/subproblem.hpp"

#include <base/shared/assert.hpp>

namespace sukima::host {
namespace {

/// A level at which the slope of the sum of the demands changes.
struct bend {
  double level;
  double change;
};

/// The slope of the sum. Claimants with the least weight are counted separately, because in a sum with
/// weights of 65,535 rounding would remove their weights.
class slope {
 public:
  void change(double by) {
    if (std::abs(by) == least_weight) {
      least_ += by > 0 ? 1 : -1;
      return;
    }
    ordinary_ += by > 0 ? 1 : -1;
    // When all ordinary weights have been subtracted again, no rounding error may remain.
    sum_ = ordinary_ == 0 ? 0 : sum_ + static_cast<long double>(by);
  }
  long double value() const { return sum_ + static_cast<long double>(least_) * least_weight; }

 private:
  long double sum_ = 0;
  long ordinary_ = 0, least_ = 0;
};

}  // namespace

double water_level(const subproblem& part, const std::vector<claimant>& claimants, double room) {
  double all = 0, fixed = 0;
  for (const element& e : part.elements) {
    all += most_of(e, claimants[e.claimant]);
    if (e.fixed) fixed += e.reach;
  }
  if (all <= room + rounding_of(room)) return infinite;
  std::vector<bend> bends;
  bends.reserve(2 * part.elements.size());
  slope steepness;
  for (const element& e : part.elements) {
    if (e.fixed) continue;
    const double weight = claimants[e.claimant].weight;
    SUKIMA_ASSERT(weight > 0, "each claimant has a weight: 0 stands as least_weight");
    if (e.offset > 0)
      bends.push_back({e.offset / weight, weight});
    else
      steepness.change(weight);
    bends.push_back({(e.offset + most_of(e, claimants[e.claimant])) / weight, -weight});
  }
  std::ranges::sort(bends, {}, &bend::level);
  long double sum = fixed, at = 0;
  for (const bend& next : bends) {
    const long double rise = steepness.value(), here = next.level;
    SUKIMA_ASSERT(here >= at, "the level only rises from bend to bend");
    if (rise > 0 && sum + rise * (here - at) >= room)
      return static_cast<double>(at + (std::max<long double>(room, sum) - sum) / rise);
    sum += rise * (here - at);
    at = here;
    steepness.change(next.change);
  }
  return static_cast<double>(at);
}

}  // namespace sukima::host
