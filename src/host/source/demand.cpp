// SPDX-License-Identifier: Apache-2.0
// Estimates how much CPU a vCPU wants; see demand.hpp.
#include "source/demand.hpp"

#include <algorithm>
#include <cmath>

namespace sukima::host {
namespace {

/// A machine that waited little wants this multiple of its use, plus this part of a CPU. The vCPUs of a
/// machine share that part: if each of them had as much, an idle machine with many vCPUs would keep whole
/// CPUs from the others.
constexpr double demand_factor = 1.1, demand_more = 0.05;
/// Time constant of the fall. After three time constants (30 s), a twentieth is left.
constexpr double fall_seconds = 10;
/// From this part on, a cap counts as used up, because quotas are enforced per period and measured with an
/// error.
constexpr double at_cap = 0.95;

/// Whether a machine that ran for `ran` of `seconds` used up its cap, so that the cap explains its waiting.
/// The kernel's own counter of throttling misses up to a third of that, because its clock starts late.
/// \param cap in CPUs; none: there is no cap
bool uses_whole_cap(double ran, double seconds, std::optional<double> cap) {
  return cap && ran >= at_cap * *cap * seconds;
}

}  // namespace

ran_and_waited done_between(const ran_and_waited& earlier, const ran_and_waited& later, double seconds) {
  return {std::clamp(later.ran - earlier.ran, 0.0, std::max(seconds, 0.0)),
          std::max(later.waited - earlier.waited, 0.0)};
}

ran_and_waited without_explained_waiting(const vm& machine, const std::vector<ran_and_waited>& done,
                                         double seconds, double throttled) {
  ran_and_waited all;
  for (std::size_t i = 0; i < done.size(); ++i) {
    all.ran += done[i].ran;
    if (!uses_whole_cap(done[i].ran, seconds, machine.vcpus[i].cap)) all.waited += done[i].waited;
  }
  all.waited = uses_whole_cap(all.ran, seconds, machine.cap) ? 0 : std::max(all.waited - throttled, 0.0);
  return all;
}

bool waits_for_cpu(const ran_and_waited& machine, double seconds) {
  return machine.waited > std::max(little_waiting * machine.ran, no_waiting * seconds);
}

double next_demand(std::optional<double> before, double used, double seconds, std::size_t vcpus) {
  const double more = demand_more / static_cast<double>(std::max<std::size_t>(vcpus, 1));
  const double wanted = std::clamp(used * demand_factor + more, 0.0, 1.0);
  if (!before || wanted >= *before) return wanted;
  return wanted + (*before - wanted) * std::exp(-seconds / fall_seconds);
}

}  // namespace sukima::host
