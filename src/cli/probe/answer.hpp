// SPDX-License-Identifier: Apache-2.0
// The answer of `sukima probe` as text, as JSON and as metrics.
#pragma once

#include <sukima/capacity.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "capacity/meter.hpp"
#include "probe/places.hpp"
#include "probe/runtimes.hpp"
#include "probe/warnings.hpp"

namespace sukima::cli::probe {

/// Version of the JSON objects of `sukima probe`. It increases when a field is removed or changes its
/// meaning; new fields do not change it. docs/probe.md lists all fields.
constexpr int json_schema = 1;

/// Everything that `sukima probe` reports.
struct answer {
  capacity_report report;
  std::string root;  ///< the folder before the names of files; not printed
  sukima_capacity_estimate estimate{};  ///< for as many threads as can run at the same moment
  std::vector<double> curve;  ///< CPUs that one thread, two threads, … would get
  sukima_capacity_load load{};
  std::map<unsigned, double> steal;  ///< part of each CPU that was taken; empty without --steal
  unsigned threads = 1;  ///< by the default policy
  std::vector<machine_place> places;  ///< all of the machine; empty with --threads
  std::vector<warning> warnings;
  std::vector<runtime_answer> runtimes;  ///< empty without --runtimes
};

/// Returns the answer as text that fits one screen.
std::string text_of(const answer& result, bool colour);
nlohmann::json json_of(const answer& result);
/// Returns metrics in the text format of Prometheus. Unknown values have no sample.
std::string metrics_of(const answer& result);

}  // namespace sukima::cli::probe
