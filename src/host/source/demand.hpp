// SPDX-License-Identifier: Apache-2.0
// How much CPU a vCPU wants, from what it used.
#pragma once

#include <optional>

namespace sukima::host {

/// Who waited less than this for each second that it ran gets all that it wants.
inline constexpr double little_waiting = 0.02;
/// Nor does this part of the time matter, which is all that an idle machine waits for: less than the demand
/// adds.
inline constexpr double no_waiting = 0.001;

/// The demand, in CPUs, of a vCPU that does not wait: it rises at once, and falls so that after 30 s a
/// twentieth of a drop is left.
/// \param before the demand until now, 1 if the vCPU waited; none: there was none
/// \param used CPUs, in an interval of `seconds`
double next_demand(std::optional<double> before, double used, double seconds);

/// Whether who ran for `ran` of `seconds` used the whole cap, so that the cap explains why it waited. The
/// kernel's own counter of throttling misses up to a third of that: its clock starts late.
/// \param cap CPUs; none: there is none
bool uses_whole_cap(double ran, double seconds, std::optional<double> cap);

}  // namespace sukima::host
