// SPDX-License-Identifier: Apache-2.0
// Measures how two CPUs affect each other.
#pragma once

namespace sukima::calibrate_detail {

/// The steps per second of a calculation that keeps a core's units busy, on one CPU.
/// \param seconds the length of one of several measurements, of which the best counts
double speed_of(unsigned cpu, double seconds);

/// The speeds of two CPUs while both calculate.
struct both_speeds {
  double first;
  double second;
};
both_speeds speed_of_both(unsigned first, unsigned second, double seconds);

/// Nanoseconds from a write on one CPU until the other CPU reads it. Both threads wait in loops.
double handover_ns(unsigned first, unsigned second, double seconds);

/// Nanoseconds from the wake-up of a sleeping thread until it runs. With two CPUs, the thread sleeps on the
/// second one. If both are the same CPU, the thread runs when the waking thread goes to sleep.
double wake_ns(unsigned first, unsigned second, double seconds);

}  // namespace sukima::calibrate_detail
