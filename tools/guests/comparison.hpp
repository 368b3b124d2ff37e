// SPDX-License-Identifier: Apache-2.0
// What guests believe that they get, beside what the host gave them.
#pragma once

#include <string>
#include <vector>

namespace sukima::guests {

/// One line of sukima-guest-agent.
struct belief {
  double arrived = 0;  ///< seconds on the host's clock
  double now = 0;  ///< CPUs that its threads get
  double stolen = 0;  ///< part that the hypervisor keeps
  std::vector<double> usable;  ///< CPUs that 1, 2, … threads would get
};

/// Reads such a line.
/// \return false if it is none
bool parse_belief(const std::string& line, double arrived, belief& found);

/// A guest over one stretch of time.
struct comparison {
  std::string name;
  unsigned threads = 0;
  double got = 0;  ///< CPUs, by the host's or the hypervisor's counters
  double waited = 0;  ///< CPUs that its virtual CPUs waited for
  double now = 0;  ///< what the guest said, on average
  double usable = 0;  ///< what it said about as many threads as it ran
  double stolen = 0;
  std::size_t lines = 0;  ///< so often it spoke

  /// The larger of the two errors, as a part of what it got; infinite if it said nothing.
  double error() const;
};

/// Averages what a guest said between two times.
comparison compare(const std::string& name, unsigned threads, const std::vector<belief>& said, double from,
                   double to, double got, double waited);

std::string table_of(const std::vector<comparison>& all);
std::string json_of(const std::vector<comparison>& all, const std::string& hypervisor);

}  // namespace sukima::guests
