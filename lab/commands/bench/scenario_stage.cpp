// SPDX-License-Identifier: Apache-2.0
// Surroundings and long runs; see scenario_stage.hpp.
#include "scenario_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <thread>

#include "shared/cpus.hpp"
#include "shared/find_program.hpp"

namespace sukima::cli::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Least seconds of a run: many turns of the scheduler and several periods of a quota.
constexpr double long_run = 1.0;
/// Seconds for which CPU is measured, as for a run.
constexpr double measured_seconds = 1.0;
/// Time after which the kernel's averages of load include new busy loops (they forget half in 32 ms).
constexpr auto settling = 60ms;
/// The field with the start time of a program.
constexpr char started_field[] = "started";

/// The number of repetitions for a little more than a long run, from a run with a single one.
int repetitions_for(const measurement& one, double wall_seconds) {
  // Some benchmarks report the seconds of one of many calls. For these the time of the process counts.
  const double each = one.seconds >= 0.1 * wall_seconds ? one.seconds : wall_seconds;
  constexpr double most = 1000;
  return static_cast<int>(std::clamp(std::ceil(1.25 * long_run / std::max(each, 1e-9)), 1.0, most));
}

}  // namespace

fs::path find_hog(const std::vector<fs::path>& directories) {
  return lab::find_executable(directories, "bench-hog").value_or(fs::path());
}

outcome parse_hog_output(const process::child_result& result, std::chrono::nanoseconds limit) {
  if (const std::string failure = process::describe_failure(result, limit); !failure.empty())
    return run_failure{failure};
  const auto json = nlohmann::json::parse(result.output, nullptr, false);
  const auto number = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_number() ? json[name].get<double>() : 0.0;
  };
  const double seconds = number("seconds"), cpu_seconds = number("cpu_seconds");
  if (!(seconds > 0) || !(cpu_seconds > 0))
    return run_failure{fmt::format("did not print its seconds; it printed: '{}'", result.output)};
  return measurement{seconds, cpu_seconds, std::nullopt, {}, {}};
}

outcome judge_repetitions(const process::child_result& result, const task& task,
                          std::chrono::nanoseconds limit) {
  if (task.repetitions == 1 || !process::describe_failure(result, limit).empty())
    return judge(result, task, limit);
  std::vector<measurement> parts;
  std::istringstream lines(result.output);
  for (process::child_result one = result; std::getline(lines, one.output);) {
    outcome read = judge(one, task, limit);
    auto* const measured = std::get_if<measurement>(&read);
    if (measured == nullptr) return read;
    if (!parts.empty() && measured->result != parts.front().result) {
      return run_failure{fmt::format("has the result '{}' in one repetition and '{}' in another",
                                     parts.front().result, measured->result)};
    }
    parts.push_back(std::move(*measured));
  }
  if (parts.size() != static_cast<std::size_t>(task.repetitions)) {
    return run_failure{fmt::format("printed {} lines for {} repetitions", parts.size(), task.repetitions)};
  }
  measurement mean = parts.front();
  const double count = static_cast<double>(parts.size());
  const auto average = [&](auto value) {
    double sum = 0;
    for (const measurement& m : parts) sum += value(m);
    return sum / count;
  };
  mean.seconds = average([](const measurement& m) { return m.seconds; });
  mean.cpu_seconds = average([](const measurement& m) { return m.cpu_seconds; });
  for (auto& [name, value] : mean.more) {
    if (name == started_field) continue;  // of the first one
    value = average([&](const measurement& m) {
      const auto found = m.more.find(name);
      return found == m.more.end() ? 0.0 : found->second;
    });
  }
  return mean;
}

outcome combine(std::span<const measurement> parts, int repetitions) {
  measurement all = parts.front();
  all.more.clear();
  all.cpu_seconds = 0;
  double first = std::numeric_limits<double>::infinity(), last = 0;
  const auto started = [](const measurement& m) {
    const auto found = m.more.find(started_field);
    return found == m.more.end() ? 0.0 : found->second;
  };
  for (const measurement& m : parts) first = std::min(first, started(m));
  for (const measurement& m : parts) {
    if (m.result != all.result) {
      return run_failure{
          fmt::format("has the result '{}' in one process and '{}' in another", all.result, m.result)};
    }
    // Work between the repetitions does not count.
    last = std::max(last, started(m) - first + m.seconds * repetitions);
    all.cpu_seconds += m.cpu_seconds;
    for (const auto& [name, value] : m.more) {
      if (name != started_field) all.more[name] += value / static_cast<double>(parts.size());
    }
  }
  all.seconds = last / repetitions;
  return all;
}

/// The groups and busy loops of one run.
struct scenario_stage::scene {
  scene(const lab::cpu_group& home, const surroundings& around, const fs::path& hog, int cpus)
      : program(home.directory(), "program", home.version()) {
    if (around.quota > 0) program.set_quota(around.quota);
    const std::vector<unsigned> places = lab::own_cpus();
    const int count = around.beside == surroundings::hogs::none  ? 0
                      : around.beside == surroundings::hogs::one ? 1
                                                                 : cpus;
    for (int i = 0; i < count; ++i) {
      hog_groups.push_back(
          std::make_unique<lab::cpu_group>(home.directory(), fmt::format("hog-{}", i), home.version()));
      process::child_request request;
      request.arguments = {hog.string()};
      // Binds each busy loop to a CPU, beginning with the last one, so that rounds do not differ by the
      // kernel's choice.
      if (static_cast<std::size_t>(i) < places.size()) {
        const unsigned cpu = places[places.size() - 1 - static_cast<std::size_t>(i)];
        request.arguments.insert(request.arguments.end(), {"--cpu", std::to_string(cpu)});
      }
      if (around.off.count() > 0) {
        request.arguments.insert(request.arguments.end(), {"--on", std::to_string(around.on.count()), "--off",
                                                           std::to_string(around.off.count())});
      }
      request.cpu_group = hog_groups.back()->processes().string();
      hogs.emplace_back(request);
    }
    if (count > 0) std::this_thread::sleep_for(settling);
  }

  lab::cpu_group program;
  std::vector<std::unique_ptr<lab::cpu_group>> hog_groups;
  std::vector<process::background_child> hogs;  // after their groups: ended before those are removed
};

scenario_stage::scenario_stage(fs::path hog, int cpus) : hog_(std::move(hog)), cpus_(cpus) {}
scenario_stage::~scenario_stage() = default;

std::string scenario_stage::obstacle(const surroundings& around) {
  if (around.put_pressure() && hog_.empty())
    return "there is no program bench-hog beside the benchmark programs";
  if (!around.need_groups()) return {};
  if (!home_) home_ = lab::make_group_home();
  return home_->obstacle;
}

outcome scenario_stage::measure_cpu(const task& task, const surroundings& around,
                                    process::child_request request) {
  request.arguments = {hog_.string(), "--loops", std::to_string(task.workers), "--seconds",
                       fmt::format("{}", measured_seconds)};
  std::optional<scene> here;
  if (around.need_groups()) here.emplace(*home_->group, around, hog_, cpus_);
  if (here) request.cpu_group = here->program.processes().string();
  return parse_hog_output(process::run_child(request), request.limit);
}

outcome scenario_stage::run_once(const task& task, const surroundings& around, const preparation& prepare) {
  process::child_request request = prepare(task);
  if (around.processes > 1 && task.command.empty()) request.arguments.emplace_back("--started");
  std::optional<scene> here;
  if (around.need_groups()) here.emplace(*home_->group, around, hog_, cpus_);
  if (here) request.cpu_group = here->program.processes().string();
  std::vector<measurement> parts;
  for (const process::child_result& result : process::run_children(request, around.processes)) {
    outcome one = judge_repetitions(result, task, request.limit);
    auto* const measured = std::get_if<measurement>(&one);
    if (measured == nullptr) return one;
    parts.push_back(std::move(*measured));
  }
  return around.processes > 1 ? combine(parts, task.repetitions) : outcome(parts.front());
}

outcome scenario_stage::run(const task& task, const preparation& prepare) {
  const scenario_entry* const scenario = find_scenario(task.scenario);
  const surroundings around = scenario == nullptr ? surroundings{} : scenario->around;
  if (task.system == ideal_system) return measure_cpu(task, around, prepare(task));
  // Measures an external command without repetitions.
  if (!around.put_pressure() || !task.command.empty()) return run_once(task, around, prepare);
  bench::task repeated = task;
  const auto known = repetitions_.find(describe(task));
  if (known != repetitions_.end()) {
    repeated.repetitions = known->second;
    return run_once(repeated, around, prepare);
  }
  const auto start = std::chrono::steady_clock::now();
  outcome first = run_once(repeated, around, prepare);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const auto* const measured = std::get_if<measurement>(&first);
  if (measured == nullptr) return first;
  repeated.repetitions = repetitions_[describe(task)] = repetitions_for(*measured, wall.count());
  return repeated.repetitions == 1 ? first : run_once(repeated, around, prepare);
}

}  // namespace sukima::cli::bench
