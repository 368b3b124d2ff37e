// SPDX-License-Identifier: Apache-2.0
// The answer of `sukima probe` as text and as JSON.
#pragma once

#include <sukima/capacity.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "capacity/meter.hpp"
#include "probe/runtimes.hpp"
#include "probe/warnings.hpp"

namespace sukima::cli::probe {

/// What is known about a place.
struct answer {
  capacity_report report;
  sukima_capacity_estimate estimate{};  ///< for as many threads as may run at the same moment
  std::vector<double> curve;            ///< CPUs that one thread, two threads, … would get
  sukima_capacity_load load{};
  std::map<unsigned, double> gaps;  ///< what was taken from each CPU; empty unless that was asked
  unsigned threads = 1;      ///< by the default policy
  std::vector<warning> warnings;
  std::vector<belief> runtimes;  ///< empty unless they were asked
};

/// One screen.
std::string text_of(const answer& what, bool colour);
nlohmann::json json_of(const answer& what);

}  // namespace sukima::cli::probe
