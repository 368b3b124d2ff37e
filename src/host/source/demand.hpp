// SPDX-License-Identifier: Apache-2.0
// How much CPU a vCPU wants, from what it used: one rule for all that read counters.
#pragma once

#include <optional>
#include <vector>

#include "shared/description.hpp"

namespace sukima::host {

/// A machine that waited less than this for each second that it ran gets all that it wants.
inline constexpr double little_waiting = 0.02;
/// An idle machine waits for at most this part of the time, which does not matter: the demand adds more.
inline constexpr double no_waiting = 0.001;

/// For how long a vCPU or a machine ran, and for how long it could run and did not, in seconds.
struct ran_and_waited {
  double ran = 0;
  double waited = 0;
};

/// What a vCPU did between two readings of its counters: it did not run for longer than the seconds between
/// them.
ran_and_waited done_between(const ran_and_waited& earlier, const ran_and_waited& later, double seconds);

/// What a machine did, without the waiting that its caps explain: a machine that used up its cap waited for
/// it.
/// \param done by each of its vCPUs, in an interval of `seconds`
/// \param throttled for how long quotas held them back, as far as the kernel counted that, in seconds
ran_and_waited without_explained_waiting(const vm& machine, const std::vector<ran_and_waited>& done,
                                         double seconds, double throttled);

/// Whether a machine that did this in `seconds` waits, and so wants more than it got.
bool waits_for_cpu(const ran_and_waited& machine, double seconds);

/// The demand, in CPUs, of a vCPU of a machine that does not wait: it rises at once, and falls so that after
/// 30 s a twentieth of a drop is left.
/// \param before the demand until now, 1 if the machine waited; none: there was none
/// \param used CPUs, in an interval of `seconds`
/// \param vcpus of the machine, which share what is added to its use
double next_demand(std::optional<double> before, double used, double seconds, std::size_t vcpus);

}  // namespace sukima::host
