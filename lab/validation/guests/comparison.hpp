// SPDX-License-Identifier: Apache-2.0
// Compares the estimates of guests with the CPU that they got from the host.
#pragma once

#include <string>
#include <vector>

namespace sukima::guests {

/// One line of sukima-guest-agent.
struct guest_sample {
  double arrived = 0;  ///< seconds on the host's clock
  double now = 0;  ///< CPUs that its threads get
  double stolen = 0;  ///< part withheld by the hypervisor
  std::vector<double> usable;  ///< CPUs that 1, 2, … threads would get
};

/// Reads such a line.
/// \return false for a malformed line
bool parse_sample(const std::string& line, double arrived, guest_sample& found);

/// A guest during one period of time.
struct comparison {
  std::string name;
  unsigned threads = 0;
  double got = 0;  ///< CPUs, by the host's or the hypervisor's counters
  double waited = 0;  ///< CPUs for which its virtual CPUs waited
  double now = 0;  ///< estimate of the guest, on average
  double usable = 0;  ///< its estimate for the number of its threads
  double stolen = 0;
  std::size_t lines = 0;  ///< number of its reports

  /// Returns the larger of the two errors, as a part of `got`; infinite without samples.
  double error() const;
};

/// Averages the samples of a guest between two times.
comparison compare(const std::string& name, unsigned threads, const std::vector<guest_sample>& samples,
                   double from, double to, double got, double waited);

std::string table_of(const std::vector<comparison>& all);
std::string json_of(const std::vector<comparison>& all, const std::string& hypervisor);

}  // namespace sukima::guests
