// SPDX-License-Identifier: Apache-2.0
// From a request to the tasks of one benchmark.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/request.hpp"

namespace sukima::cli::bench {

/// The programs of one system that must be measured on one benchmark.
struct contender {
  std::string system;
  std::vector<program> programs;
  /// Of a tuned system: the cut-off depth by the program's file and the number of workers.
  std::map<std::pair<std::filesystem::path, int>, int> depths{};
};

/// Whether its programs get a cut-off depth.
bool is_tuned(const contender& c);

/// The systems that have a benchmark, each with the programs that the choice of a compiler leaves: several,
/// if the best is still to be found or both are requested. A system with only one program always takes part.
/// `absent` gets the names of the systems that are left out.
std::vector<contender> contenders_for(const bench_request& request,
                                      const std::vector<installed_system>& installed,
                                      const std::string& benchmark, std::vector<std::string>& absent);

/// The task of running a benchmark by one program.
task task_for(const bench_request& request, const std::string& benchmark, const std::string& system,
              const program& by, int workers, const std::string& scenario);

/// The numbers of workers in any of the scenarios.
std::set<int> measured_workers(const bench_request& request, const std::vector<std::string>& scenarios,
                               int cpus);

/// All tasks of one benchmark: for each of the scenarios every program of every contender, with each number
/// of workers (the sequential program once; a tuned one where it has a depth), and every external command;
/// and the tasks for the ideals.
std::vector<task> plan_tasks(const bench_request& request, const std::vector<std::string>& scenarios,
                             const std::vector<contender>& contenders, const std::string& benchmark,
                             int cpus);

/// A benchmark, and the scenarios in which it is measured.
struct benchmark_scenarios {
  std::string benchmark;
  std::vector<std::string> scenarios;
};

/// Which benchmark a request measures in which scenarios: a scenario that is for one benchmark only adds that
/// one, once, instead of those that were named.
std::vector<benchmark_scenarios> scenarios_by_benchmark(const bench_request& request);

}  // namespace sukima::cli::bench
