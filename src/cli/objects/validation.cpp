// SPDX-License-Identifier: Apache-2.0
// Runs a program under each model and scores the predictions; see validation.hpp.
#include "objects/validation.hpp"

#include <base/shared/assert.hpp>

#include <fmt/format.h>
#include <sukima/capacity.h>

#include <algorithm>

#include <base/shared/interruption.hpp>
#include <base/shared/temporary_directory.hpp>
#include "objects/files.hpp"
#include "objects/programs.hpp"
#include "shared/console.hpp"

namespace sukima::cli::objects {
namespace {

// The planner treats two times as tied if their relative difference is less than this.
constexpr double least_spread = 0.01;

/// Stores the models that are expected to end. \returns the index among them of the model that the plan chose
std::size_t keep_ending(const model::plan& plan, validation& into) {
  into.left_out = plan.left_out;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < plan.ranking.size(); i++) {
    const model::candidate& one = plan.ranking[i];
    if (one.simulated.stuck) {
      into.left_out.push_back({one.how.model, "the simulation predicts that it waits forever"});
    } else {
      const bool tied = i < plan.tied && !into.models.empty() && one.units < into.models[chosen].how.units;
      if (tied) chosen = into.models.size();
      into.models.push_back({one, {}, {}, {}, {}});
    }
  }
  if (into.models.empty())
    throw process::usage_error(
        "the simulation predicts that the program waits forever under each model, but the recorded run has "
        "ended: its description lacks something that the program depends on");
  SUKIMA_ASSERT(into.models.size() + into.left_out.size() == plan.ranking.size() + plan.left_out.size(),
                "each model of a plan is run or left out");
  return chosen;
}

// If a model's first run took longer than the fastest one's by this factor, the model is run only once,
// because its rank is clear.
constexpr double clearly_slower = 3;

/// Returns 0 if no model has run.
double fastest_first_run(const validation& of) {
  double fastest = 0;
  for (const validated_model& one : of.models)
    if (!one.runs_ns.empty() && (fastest == 0 || one.runs_ns.front() < fastest))
      fastest = one.runs_ns.front();
  return fastest;
}

void measure(const std::vector<std::string>& program, const model::description& described, int runs,
             validation& into) {
  const process::temporary_directory directory("validate");
  const process::removed_on_signal cleanup(directory.path(), process::directory_contents::files);
  std::vector<std::string> plans;
  for (const validated_model& one : into.models) {
    plans.push_back(fmt::format("{}/{}", directory.path(), plans.size()));
    replace_file(plans.back(),
                 model::plan_text(described, one.how, into.cpus, sukima_capacity_machine(nullptr)));
  }
  progress_line progress;
  for (int run = 0; run < runs; run++) {
    const double fastest = fastest_first_run(into);
    for (std::size_t i = 0; i < plans.size(); i++) {
      if (run > 0 && into.models[i].runs_ns.front() > clearly_slower * fastest) continue;
      progress.show(
          fmt::format("run {} of {}: {}", run + 1, runs, model::name_of(into.models[i].how.how.model)));
      into.models[i].runs_ns.push_back(time_program(program, plans[i]));
    }
  }
}

prediction_score score_of(const std::vector<time_range>& measured, const std::vector<time_range>& predicted,
                          const validation& of, std::size_t chosen) {
  SUKIMA_ASSERT(chosen < of.models.size() && measured.size() == of.models.size(),
                "a model that was measured is chosen");
  const auto faster = [](const time_range& a, const time_range& b) { return a.middle < b.middle; };
  const auto best =
      static_cast<std::size_t>(std::min_element(measured.begin(), measured.end(), faster) - measured.begin());
  return {kendall_tau(measured, predicted), of.models[chosen].how.how.model,
          measured[chosen].middle / measured[best].middle,
          predicted[best].middle / measured[best].middle - 1};
}

}  // namespace

void score(validation& of, std::size_t chosen_by_simulation) {
  std::vector<time_range> measured, simulated, by_paper;
  for (validated_model& one : of.models) {
    one.measured = range_of(one.runs_ns);
    const model::prediction& seen = one.how.simulated;
    const double half = std::max(seen.spread_ns, least_spread * seen.time_ns) / 2;
    one.simulated = {seen.time_ns - half, seen.time_ns, seen.time_ns + half};
    one.by_paper = {one.how.paper_ns, one.how.paper_ns, one.how.paper_ns};
    measured.push_back(one.measured);
    simulated.push_back(one.simulated);
    by_paper.push_back(one.by_paper);
  }
  const auto first = std::min_element(by_paper.begin(), by_paper.end(),
                                      [](const auto& a, const auto& b) { return a.middle < b.middle; });
  of.simulation = score_of(measured, simulated, of, chosen_by_simulation);
  of.paper = score_of(measured, by_paper, of, static_cast<std::size_t>(first - by_paper.begin()));
}

validation validate_program(const std::vector<std::string>& program, double seconds, int runs,
                            const model::plan_request& request) {
  const model::description described = record_program(program, seconds);
  if (!described.recorded || !described.recorded->whole)
    throw process::usage_error(fmt::format(
        "'{}' runs for longer than {:.3g} s, so its time cannot be compared: give it less to do, or "
        "more --seconds",
        program.front(), seconds));
  validation result;
  result.program = described.program;
  result.cpus = request.where.cpus;
  const std::size_t chosen = keep_ending(quiet_plan(described, request), result);
  measure(program, described, runs, result);
  score(result, chosen);
  return result;
}

}  // namespace sukima::cli::objects
