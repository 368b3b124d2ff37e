// SPDX-License-Identifier: Apache-2.0
// Measures the machine profile: the implementation of `sukima calibrate`. Not installed.
#pragma once

#include <sukima/capacity.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sukima {
/// \addtogroup capacity
/// @{

/// The measurements to make, and their length.
struct calibration_plan {
  /// The CPUs; empty: all that this process may run on.
  std::vector<unsigned> cpus{};
  /// With more than 32 CPUs: all pairs (n² / 2), or only CPUs of one core or cache, adjacent CPUs, and CPUs
  /// half of the machine apart.
  bool all_pairs = false;
  /// Length of one measurement. Each figure is the best of seven, so that a disturbed one does not count.
  double window_seconds = 0.004;
  /// How long the profile is valid.
  double valid_seconds = 30.0 * 86400;
  /// Called with the name of the next measurement and the progress; may be empty. An exception that it throws
  /// ends the calibration.
  std::function<void(const std::string& step, std::size_t done, std::size_t total)> progress{};
};

/// A profile and the data that it points to.
class calibration {
 public:
  /// The measurements; points into this object, which may be moved.
  [[nodiscard]] sukima_capacity_profile profile() const;

  // The members have the meaning and the units of those of sukima_capacity_profile.
  std::vector<std::uint32_t> cpus;  ///< the CPUs that were measured
  std::vector<sukima_capacity_pair> pairs;  ///< pairs of CPUs
  std::vector<sukima_capacity_latency> latencies;  ///< pairs of memory nodes
  double switch_ns = 0;  ///< time of a switch between threads, in nanoseconds
  double wake_ns = 0;  ///< time of a wake-up, in nanoseconds
  double valid_seconds = 0;  ///< how long the profile is valid, in seconds
  std::uint64_t written = 0;  ///< time of the measurements, in seconds since 1970
  std::uint64_t machine = 0;  ///< sukima_capacity_machine() at that time
};

/// Measures the machine, in about 0.1 s for each pair of CPUs and for each pair of memory nodes. The machine
/// should be idle; other load makes figures larger, hardly ever smaller.
/// \throws std::system_error if a thread cannot be bound to one of the CPUs
/// \throws std::invalid_argument with a sentence if the plan names a CPU that this process may not use
calibration calibrate(const calibration_plan& plan = {});

/// @}
}  // namespace sukima
