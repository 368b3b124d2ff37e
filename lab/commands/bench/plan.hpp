// SPDX-License-Identifier: Apache-2.0
// Plans the tasks of one benchmark for a request.
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
  /// For a tuned system, the cut-off depths by the program's file and the number of workers.
  std::map<std::pair<std::filesystem::path, int>, int> depths{};
};

/// Returns whether the contender's programs have a cut-off depth.
bool is_tuned(const contender& c);

/// Returns the systems that have a benchmark, each with the programs that the choice of a compiler leaves.
/// There are several programs if both compilers are requested, or if the best one is not known yet. A system
/// with only one program always takes part. The names of systems that are left out are added to `absent`.
std::vector<contender> contenders_for(const bench_request& request,
                                      const std::vector<installed_system>& installed,
                                      const std::string& benchmark, std::vector<std::string>& absent);

/// Returns the task of running a benchmark by one program.
task task_for(const bench_request& request, const std::string& benchmark, const std::string& system,
              const program& by, int workers, const std::string& scenario);

/// Returns the numbers of workers in any of the scenarios.
std::set<int> measured_workers(const bench_request& request, const std::vector<std::string>& scenarios,
                               int cpus);

/// Returns all tasks of one benchmark. Each scenario has every program of every contender with each number of
/// workers, every external command, and the tasks for the ideals. The sequential program has one task, and a
/// tuned program has those for which it has a depth.
std::vector<task> plan_tasks(const bench_request& request, const std::vector<std::string>& scenarios,
                             const std::vector<contender>& contenders, const std::string& benchmark,
                             int cpus);

/// A benchmark and its scenarios.
struct benchmark_scenarios {
  std::string benchmark;
  std::vector<std::string> scenarios;
};

/// Returns the benchmarks of a request with their scenarios. A scenario for a single benchmark adds that
/// benchmark once, and not the named ones.
std::vector<benchmark_scenarios> scenarios_by_benchmark(const bench_request& request);

}  // namespace sukima::cli::bench
