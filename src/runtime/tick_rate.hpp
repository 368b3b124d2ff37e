// SPDX-License-Identifier: Apache-2.0
// The speed of the CPU's counter (`ticks()`). It is measured once for each process, against CLOCK_MONOTONIC
// for `clock_measurement_ns`, because the rate differs from machine to machine. Neither CPUID nor the
// kernel's files have that frequency everywhere: AMD's CPUs and many virtual machines do not report it. If
// `ticks()` is made from the kernel's clock (not x86-64), its rate is known and nothing is measured.
#pragma once

#include <cstdint>

namespace sukima::detail {

namespace tuning {

/// How long the first runtime of a process measures the counter by busy-waiting. Reading the clock errs by
/// less than 50 ns, so the measured rate errs by less than 2 %.
inline constexpr std::uint64_t clock_measurement_ns = 5'000;
/// After this time, the measurement that began with the process's first runtime errs by less than 0.01 %.
/// Printed figures use it.
inline constexpr std::uint64_t long_clock_measurement_ns = 1'000'000;

}  // namespace tuning

/// Ticks of the CPU's counter in a nanosecond. They are measured at the first call, which then takes
/// `clock_measurement_ns`.
double ticks_per_nanosecond() noexcept;
/// The length of a tick, from all the time since the process's first runtime: for statistics and traces,
/// whose figures are sums over that time. May differ from call to call.
double seconds_per_tick() noexcept;

/// Converts nanoseconds to ticks.
inline std::uint64_t in_ticks(std::uint64_t nanoseconds, double per_ns) noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(nanoseconds) * per_ns);
}
/// The same for `settings::clones_ns`. The result is 0 if and only if clones are off.
std::uint32_t clone_grain_of(unsigned nanoseconds) noexcept;

}  // namespace sukima::detail
