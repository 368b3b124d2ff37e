// SPDX-License-Identifier: Apache-2.0
// Runs with and without deaths; see hope_run.hpp.
#include "hope_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/hope_scenarios.hpp"

namespace sukima::cli::bench {
namespace {

constexpr int most_attempts = 10;

}  // namespace

outcome hope_runner::run(const task& task, std::chrono::nanoseconds limit) {
  if (!task.hope.value_or(false)) return stage_.run(task, limit);
  if (task.deaths == 0) return run_undisturbed(task, limit);
  if (!shortest_.contains(task.benchmark)) {
    bench::task first = task;
    first.deaths = 0;
    outcome o = run_undisturbed(first, limit);
    if (std::holds_alternative<run_failure>(o)) return o;
  }
  const std::uint64_t number = runs_[{task.benchmark, task.deaths}]++;
  std::vector<planned_death> plan = draw_deaths(
      seed_ + static_cast<std::uint64_t>(most_nodes) * number + static_cast<std::uint64_t>(task.deaths),
      task.nodes, task.deaths, shortest_.at(task.benchmark));
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (std::optional<outcome> o = stage_.run_hope(task, limit, plan)) return *std::move(o);
    for (planned_death& death : plan) death.seconds /= 2;
  }
  return run_failure{
      fmt::format("ended {} times before its nodes could be killed: give a larger --size", most_attempts)};
}

outcome hope_runner::run_undisturbed(const task& task, std::chrono::nanoseconds limit) {
  outcome o = stage_.run_hope(task, limit, {}).value();
  const auto* const measured = std::get_if<measurement>(&o);
  if (measured != nullptr && task.nodes > 1) {
    double& shortest = shortest_.try_emplace(task.benchmark, measured->seconds).first->second;
    shortest = std::min(shortest, measured->seconds);
  }
  return o;
}

}  // namespace sukima::cli::bench
