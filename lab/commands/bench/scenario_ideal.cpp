// SPDX-License-Identifier: Apache-2.0
// Computes ideals of each round; see scenario_ideal.hpp.
#include "scenario_ideal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "bench/catalogue.hpp"

namespace sukima::cli::bench {
namespace {

constexpr char without_neighbours[] = "alone";

bool has_pressure(const std::string& scenario) {
  const scenario_entry* const entry = find_scenario(scenario);
  return entry != nullptr && entry->around.put_pressure();
}

/// The number of CPUs that the processes of a task could use.
int usable_loops(const task& task, int cpus) {
  const scenario_entry& scenario = *find_scenario(task.scenario);
  if (!scenario.benchmark.empty()) return 1;  // a sequential task by definition
  return std::min(task.workers * scenario.around.processes, cpus);
}

/// The figures of a row by round.
std::map<int, double> by_round(const row& r, auto value) {
  std::map<int, double> values;
  for (const sample& s : r.samples) values[s.round] = value(s.measured);
  return values;
}

/// The seconds of work in a repetition of a sequential program. This is the CPU time, which neighbours
/// disturb less than the wall time. Some benchmarks report the CPU time of many calls or of other threads;
/// for these it is the wall time.
double seconds_of_work(const measurement& m, bool cpu_time_is_of_others) {
  return cpu_time_is_of_others || !(m.cpu_seconds > 0) ? m.seconds : std::min(m.seconds, m.cpu_seconds);
}

/// The reference row for the work of another row: a system alone, with one worker.
const row* work_of(std::string_view system, const row& of, const std::vector<row>& rows) {
  const row* best = nullptr;
  const auto rank = [&](const row& r) {
    return std::pair(r.task.compiler != of.task.compiler, median_seconds(r));
  };
  for (const row& r : rows) {
    if (r.task.system != system || r.task.workers != 1 || r.task.scenario != without_neighbours) continue;
    if (r.failure || r.samples.empty()) continue;
    if (best == nullptr || rank(r) < rank(*best)) best = &r;
  }
  return best;
}

/// The busy loops that could use the same CPUs as a row: the largest number up to its number of threads.
const row* loops_of(const row& of, const std::vector<row>& rows, int processes) {
  const row* best = nullptr;
  for (const row& r : rows) {
    if (r.task.system != ideal_system || r.task.scenario != of.task.scenario) continue;
    if (r.failure || r.samples.empty() || r.task.workers > of.task.workers * processes) continue;
    if (best == nullptr || r.task.workers > best->task.workers) best = &r;
  }
  return best;
}

/// The ideal for a row, computed from the work of another row and the CPUs available in each round.
std::optional<ideal_figure> ideal_for_work(const row& of, const row* work, const std::map<int, double>& cpus,
                                           const scenario_entry& scenario) {
  if (work == nullptr) return std::nullopt;
  const auto work_seconds =
      by_round(*work, [&](const measurement& m) { return seconds_of_work(m, !scenario.benchmark.empty()); });
  std::vector<double> seconds, rates, ratios;
  for (const sample& s : of.samples) {
    const auto needed = work_seconds.find(s.round);
    const auto had = cpus.find(s.round);
    if (needed == work_seconds.end() || had == cpus.end() || !(needed->second > 0)) continue;
    seconds.push_back(scenario.around.processes * needed->second / had->second);
    rates.push_back(had->second);
    ratios.push_back(s.measured.seconds / seconds.back());
  }
  if (seconds.empty()) return std::nullopt;
  return ideal_figure{quartiles_of(seconds), median_of(rates), 0, bootstrap_median(ratios)};
}

}  // namespace

std::vector<task> tasks_for_ideals(const std::vector<task>& tasks, int cpus) {
  std::vector<task> more;
  std::set<std::pair<std::string, int>> measured;
  std::set<std::pair<std::string, std::string>> references;
  const auto add_alone = [&](task alone) {
    alone.scenario = without_neighbours;
    alone.workers = 1;
    alone.reference = true;
    const bool is_planned = std::ranges::any_of(tasks, [&](const task& t) {
      return t.system == alone.system && t.compiler == alone.compiler && t.scenario == alone.scenario &&
             t.workers == 1;
    });
    if (!is_planned && references.emplace(alone.system, alone.compiler).second)
      more.push_back(std::move(alone));
  };
  for (const task& t : tasks) {
    if (!has_pressure(t.scenario)) continue;
    if (t.system == sequential_system || t.system == own_system) add_alone(t);
    if (t.system == sequential_system) continue;
    const int loops = usable_loops(t, cpus);
    if (!measured.emplace(t.scenario, loops).second) continue;
    more.push_back({.benchmark = t.benchmark,
                    .size = std::nullopt,
                    .system = std::string(ideal_system),
                    .compiler = {},
                    .program = {},
                    .command = {},
                    .workers = loops,
                    .scenario = t.scenario,
                    .repetitions = 1,
                    .reference = true});
  }
  return more;
}

std::optional<ideal_figure> ideal_of(const row& of, const std::vector<row>& rows) {
  if (of.task.system == sequential_system || !has_pressure(of.task.scenario)) return std::nullopt;
  const scenario_entry& scenario = *find_scenario(of.task.scenario);
  const int processes = scenario.around.processes;
  const row* const loops = loops_of(of, rows, processes);
  if (loops == nullptr) return std::nullopt;
  const auto cpus = by_round(*loops, [](const measurement& m) { return m.cpu_seconds / m.seconds; });
  std::optional<ideal_figure> figure =
      ideal_for_work(of, work_of(sequential_system, of, rows), cpus, scenario);
  if (!figure) return std::nullopt;
  figure->loops = loops->task.workers;
  if (const auto own = ideal_for_work(of, work_of(own_system, of, rows), cpus, scenario))
    figure->own = own_ideal_figure{own->seconds.median, own->over};
  return figure;
}

}  // namespace sukima::cli::bench
