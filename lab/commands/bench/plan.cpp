// SPDX-License-Identifier: Apache-2.0
// Plans the runs of a request; see plan.hpp.
#include "plan.hpp"

#include <algorithm>
#include <iterator>

#include "bench/catalogue.hpp"
#include "bench/scenario_ideal.hpp"

namespace sukima::cli::bench {
namespace {

/// The programs that a choice of a compiler leaves.
std::vector<program> selected(const std::vector<program>& programs, compiler_choice choice) {
  if (programs.size() < 2 || choice == compiler_choice::best || choice == compiler_choice::both)
    return programs;
  const std::string wanted = choice == compiler_choice::gcc ? "gcc" : "clang";
  std::vector<program> matching;
  std::ranges::copy_if(programs, std::back_inserter(matching),
                       [&](const program& p) { return p.compiler == wanted; });
  return matching;
}

std::optional<std::int64_t> size_of(const bench_request& request, const std::string& benchmark) {
  return request.size ? request.size : default_size(benchmark);
}

}  // namespace

std::vector<contender> contenders_for(const bench_request& request,
                                      const std::vector<installed_system>& installed,
                                      const std::string& benchmark, std::vector<std::string>& absent) {
  std::vector<contender> contenders;
  for (const installed_system& system : installed) {
    if (std::ranges::count(request.systems, system.name) == 0) continue;
    std::vector<program> programs = selected(system.having(benchmark), request.compiler);
    if (programs.empty()) {
      // A system that has only a few other benchmarks needs no note.
      if (find_system(system.name)->benchmarks.empty()) absent.push_back(system.name);
    } else {
      contenders.push_back({system.name, std::move(programs), {}});
    }
  }
  return contenders;
}

task task_for(const bench_request& request, const std::string& benchmark, const std::string& system,
              const program& by, int workers, const std::string& scenario) {
  return {.benchmark = benchmark,
          .size = size_of(request, benchmark),
          .system = system,
          .compiler = by.compiler,
          .program = by.file,
          .command = {},
          .workers = workers,
          .scenario = scenario};
}

std::vector<benchmark_scenarios> scenarios_by_benchmark(const bench_request& request) {
  std::vector<benchmark_scenarios> wanted;
  const auto add = [&](const std::string& benchmark, const std::string& scenario) {
    const auto found = std::ranges::find(wanted, benchmark, &benchmark_scenarios::benchmark);
    benchmark_scenarios& entry =
        found == wanted.end() ? wanted.emplace_back(benchmark, std::vector<std::string>{}) : *found;
    entry.scenarios.push_back(scenario);
  };
  for (const std::string& benchmark : request.benchmarks) {
    for (const std::string& scenario : request.scenarios) {
      if (find_scenario(scenario)->benchmark.empty()) add(benchmark, scenario);
    }
  }
  for (const std::string& scenario : request.scenarios) {
    const std::string_view only = find_scenario(scenario)->benchmark;
    if (!only.empty()) add(std::string(only), scenario);
  }
  return wanted;
}

bool is_tuned(const contender& c) {
  const system_entry* const system = find_system(c.system);
  return system != nullptr && system->tuned;
}

std::set<int> measured_workers(const bench_request& request, const std::vector<std::string>& scenarios,
                               int cpus) {
  std::set<int> all;
  for (const std::string& scenario : scenarios) {
    const std::vector<int> counts =
        find_scenario(scenario)->worker_counts({request.workers, request.workers_given}, cpus);
    all.insert(counts.begin(), counts.end());
  }
  return all;
}

std::vector<task> plan_tasks(const bench_request& request, const std::vector<std::string>& scenarios,
                             const std::vector<contender>& contenders, const std::string& benchmark,
                             int cpus) {
  std::vector<task> tasks;
  for (const std::string& scenario : scenarios) {
    const std::vector<int> counts =
        find_scenario(scenario)->worker_counts({request.workers, request.workers_given}, cpus);
    for (const contender& c : contenders) {
      for (const program& by : c.programs) {
        if (c.system == sequential_system) {
          tasks.push_back(task_for(request, benchmark, c.system, by, 1, scenario));
          continue;
        }
        for (const int workers : counts) {
          task t = task_for(request, benchmark, c.system, by, workers, scenario);
          if (is_tuned(c)) {
            const auto found = c.depths.find({by.file, workers});
            if (found == c.depths.end()) continue;  // it did not run at any depth, which was reported
            t.depth = found->second;
          }
          tasks.push_back(std::move(t));
        }
      }
    }
    for (const external_system& external : request.externals) {
      for (const int workers : counts) {
        tasks.push_back({.benchmark = benchmark,
                         .size = size_of(request, benchmark),
                         .system = external.name,
                         .compiler = {},
                         .program = {},
                         .command = external.command,
                         .workers = workers,
                         .scenario = scenario});
      }
    }
  }
  std::ranges::move(tasks_for_ideals(tasks, cpus), std::back_inserter(tasks));
  return tasks;
}

}  // namespace sukima::cli::bench
