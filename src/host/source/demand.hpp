// SPDX-License-Identifier: Apache-2.0
// Estimates how much CPU a vCPU wants from what it used. All code that reads counters uses this rule.
#pragma once

#include <optional>
#include <vector>

#include "shared/description.hpp"

namespace sukima::host {

/// A machine that waited less than this per second that it ran gets all that it wants.
inline constexpr double little_waiting = 0.02;
/// An idle machine may wait for this part of the time. That does not matter, because the demand adds more
/// than that.
inline constexpr double no_waiting = 0.001;

/// How long a vCPU or a machine ran, and how long it could run but did not, in seconds.
struct ran_and_waited {
  double ran = 0;
  double waited = 0;
};

/// What a vCPU did between two readings of its counters. The time that it ran is limited to the time between
/// the readings.
ran_and_waited done_between(const ran_and_waited& earlier, const ran_and_waited& later, double seconds);

/// What a machine did, without the waiting that its caps explain: if a machine used up its cap, it waited
/// because of the cap.
/// \param done by each of its vCPUs, in an interval of `seconds`
/// \param throttled how long quotas throttled them, in seconds, as far as the kernel counted that
ran_and_waited without_explained_waiting(const vm& machine, const std::vector<ran_and_waited>& done,
                                         double seconds, double throttled);

/// Whether a machine with these counters over `seconds` waits, and so wants more than it got.
bool waits_for_cpu(const ran_and_waited& machine, double seconds);

/// The demand, in CPUs, of a vCPU of a machine that does not wait. It rises at once, and falls so slowly that
/// a twentieth of a drop is left after 30 s.
/// \param before the previous demand, 1 if the machine waited; none: there was none
/// \param used in CPUs, in an interval of `seconds`
/// \param vcpus the number of the machine's vCPUs, which share the amount that is added to the use
double next_demand(std::optional<double> before, double used, double seconds, std::size_t vcpus);

}  // namespace sukima::host
