// SPDX-License-Identifier: Apache-2.0
// Runs programs in the surroundings of a scenario: beside busy loops, under a quota, or several at once.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/catalogue.hpp"
#include "bench/measurement.hpp"
#include "shared/cpu_group.hpp"
#include "shared/group_home.hpp"

namespace sukima::cli::bench {

/// Returns the program of busy loops in the first directory that contains it; empty if none does.
std::filesystem::path find_hog(const std::vector<std::filesystem::path>& directories);

/// Parses the output of the program of busy loops: the CPU actually available, `cpu_seconds` in `seconds`.
outcome parse_hog_output(const process::child_result& result, std::chrono::nanoseconds limit);

/// Parses the measurement of one process with a line for each repetition. Seconds, CPU seconds and further
/// numbers are means.
outcome judge_repetitions(const process::child_result& result, const task& task,
                          std::chrono::nanoseconds limit);

/// Combines the measurements of processes that ran at once. `seconds` is the time from the first start to the
/// last end, divided by the repetitions of each process; `cpu_seconds` is the sum. Different results are a
/// failure.
/// \pre `parts` is not empty
outcome combine(std::span<const measurement> parts, int repetitions);

class scenario_stage {
 public:
  /// Makes the process of a task, without its surroundings.
  using preparation = std::function<process::child_request(const task&)>;

  /// \param hog the program of busy loops; empty if there is none
  /// \param cpus the assumed number of CPUs
  scenario_stage(std::filesystem::path hog, int cpus);
  ~scenario_stage();
  scenario_stage(const scenario_stage&) = delete;
  scenario_stage& operator=(const scenario_stage&) = delete;

  /// Returns the obstacle to these surroundings, as the end of a sentence; empty if there is none. The first
  /// call for surroundings with groups makes the group above them.
  std::string obstacle(const surroundings& around);

  /// Runs a task in its scenario, which has no obstacle. Under pressure, a program repeats its work for at
  /// least a second. Its first run there determines the number of repetitions.
  /// \throws std::system_error if a program cannot be started, or if a group cannot be made
  outcome run(const task& task, const preparation& prepare);

 private:
  struct scene;

  outcome measure_cpu(const task& task, const surroundings& around, process::child_request request);
  outcome run_once(const task& task, const surroundings& around, const preparation& prepare);

  std::filesystem::path hog_;
  int cpus_;
  std::optional<lab::group_home> home_;
  std::map<std::string, int> repetitions_;
};

}  // namespace sukima::cli::bench
