// SPDX-License-Identifier: Apache-2.0
// How much CPU a vCPU wants, from what it used.
#pragma once

#include <optional>

namespace sukima::host {

/// Who waited less than this for each second that it ran gets all that it wants.
inline constexpr double little_waiting = 0.02;

/// The demand, in CPUs, of a vCPU that does not wait: it rises at once, and falls so that after 30 s a
/// twentieth of a drop is left.
/// \param before the demand until now, 1 if the vCPU waited; none: there was none
/// \param used CPUs, in an interval of `seconds`
double next_demand(std::optional<double> before, double used, double seconds);

/// The seconds in which a cap held back whoever ran for `ran` of `seconds`, if it used its whole cap;
/// otherwise 0. (The kernel's own counter misses up to a third of that: its clock starts late.)
/// \param cap CPUs; none: there is none \param vcpus how many have it together
double throttled_by_cap(double ran, double seconds, std::optional<double> cap, double vcpus = 1);

}  // namespace sukima::host
