// SPDX-License-Identifier: Apache-2.0
// Judging claims; see verdict.hpp.
#include "shared/verdict.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cmath>

#include "report/comparison.hpp"
#include "report/use_rule.hpp"

namespace sukima::lab {
namespace {

/// The reason why samples have no runs: the obstacle to their environment, or their last failure. A sample
/// with some runs is only incomplete.
std::string reason_for_nothing(const experiment& experiment, const std::vector<sample>& all,
                               const std::string& program, const measured& runs, const test_bed& bed) {
  for (const sample& one : all) {
    for (const std::string& name :
         {std::string(name_of(one.where->kind)), place_name(experiment.name, one.where->name)})
      if (const auto found = bed.obstacles.find(name); found != bed.obstacles.end()) return found->second;
    if (std::string why = runs.failure(program, one.setting, one.where->name);
        one.cell->empty() && !why.empty())
      return why;
  }
  return {};
}

verdict outcome_of(const interval& ratio, const claim& claim) {
  if (claim.above ? ratio.low > claim.bound : ratio.high < claim.bound) return verdict::holds;
  if (claim.above ? ratio.high <= claim.bound : ratio.low >= claim.bound) return verdict::does_not_hold;
  return verdict::undecided;
}

/// Keeps only the sample of the setting that the CPU use predicts. \returns false if no use is known, with
/// the reason in `into`
bool take_by_use(std::vector<sample>& from, const std::string& program, const measured& runs,
                 judged_cell& into) {
  std::vector<const rounds*> uses;
  for (const sample& one : from) uses.push_back(&runs.use_of(program, one.setting, one.where->name));
  const std::optional<std::size_t> chosen = choose_by_use(uses);
  if (chosen) {
    from = {from[*chosen]};
    into.taken = from.front().setting;
    return true;
  }
  into.reason = "the CPU use of fewer than " + std::to_string(fewest_rounds) + " rounds is known";
  return false;
}

/// The reason why a cell with too few rounds has no verdict.
void explain_too_few(const experiment& experiment, const comparison& sides, const std::string& program,
                     const measured& runs, const test_bed& bed, std::size_t rounds, judged_cell& into) {
  into.reason = reason_for_nothing(experiment, sides.all(), program, runs, bed);
  if (!into.reason.empty())
    into.outcome = verdict::cannot_be_shown;
  else
    into.reason = "only " + std::to_string(rounds) + " of at least " + std::to_string(fewest_rounds) +
                  " rounds were run";
}

/// \param places one environment, or those among which the worst counts
judged_cell judge_cell(const experiment& experiment, const claim& of, const std::string& program,
                       const std::vector<std::string>& places, const measured& runs, const test_bed& bed) {
  judged_cell result;
  result.program = program;
  result.environment = places.front();
  if (of.worst) result.worst_of = places;
  comparison sides = comparison_of(experiment, of, program, places, runs, bed.cpus);
  std::vector<unsigned> common = sides.common_rounds();
  if (common.size() < fewest_rounds) {
    explain_too_few(experiment, sides, program, runs, bed, common.size(), result);
    return result;
  }
  if (of.left.take == taking::use) {
    if (!take_by_use(sides.left, program, runs, result)) return result;
    common = sides.common_rounds();
  }
  if (of.worst) result.environment = sides.worst_environment(common);
  result.ratio = ratio_of(of, sides, common);
  if (!result.ratio) {
    result.reason = "runs of both sides were stopped at the time limit";
    return result;
  }
  SUKIMA_ASSERT(result.ratio->low <= result.ratio->high, "an interval has a lower and an upper end");
  result.outcome = outcome_of(*result.ratio, of);
  if (result.outcome == verdict::undecided) result.reason = "the interval contains the bound";
  if (!sides.has_stopped(common)) return result;
  // A stopped run may take any time beyond the limit. Only a verdict that both ends share is decided.
  for (const comparison& extreme : extremes_of(sides)) {
    const std::optional<interval> ratio = ratio_of(of, extreme, common);
    if (result.outcome == verdict::undecided || (ratio && outcome_of(*ratio, of) == result.outcome)) continue;
    result.outcome = verdict::undecided;
    result.reason = "runs were stopped at the time limit: how much longer they take is not known";
  }
  return result;
}

void decide(judged_claim& one) {
  const auto count = [&](verdict outcome) {
    return static_cast<std::size_t>(
        std::ranges::count_if(one.cells, [&](const judged_cell& cell) { return cell.outcome == outcome; }));
  };
  const auto all = static_cast<double>(one.cells.size());
  const auto wanted = static_cast<std::size_t>(std::ceil(one.claim.in * all - 1e-9));
  SUKIMA_ASSERT(wanted <= one.cells.size(), "a claim is about a part of its cells");
  const auto reason_of = [&](verdict outcome) {
    const auto found = std::ranges::find(one.cells, outcome, &judged_cell::outcome);
    return found == one.cells.end() ? std::string()
                                    : found->program + " in " + found->environment + ": " + found->reason;
  };
  if (one.cells.empty()) {
    one.outcome = verdict::cannot_be_shown;
  } else if (count(verdict::holds) >= wanted) {
    one.outcome = verdict::holds;
  } else if (one.cells.size() - count(verdict::does_not_hold) < wanted) {
    one.outcome = verdict::does_not_hold;
  } else if (count(verdict::holds) + count(verdict::undecided) < wanted) {
    one.outcome = verdict::cannot_be_shown;
    one.reason = reason_of(verdict::cannot_be_shown);
  } else {
    one.outcome = verdict::undecided;
    one.reason = reason_of(verdict::undecided);
  }
}

/// A side with only the settings that are part of the runs.
side taken_side(const experiment& experiment, side one, const run_choice& choice) {
  std::erase_if(one.settings,
                [&](const std::string& name) { return !choice.takes(named(experiment.settings, name)); });
  std::erase_if(one.environments,
                [&](const std::string& name) { return !choice.takes(named(experiment.environments, name)); });
  return one;
}

claim taken_claim(const experiment& experiment, claim one, const run_choice& choice) {
  one.left = taken_side(experiment, one.left, choice);
  if (one.right) one.right = taken_side(experiment, *one.right, choice);
  return one;
}

/// Whether the environments that the claim compares with this one are part of the runs.
bool takes_part(const experiment& experiment, const claim& of, const std::string& program,
                const std::string& where, const run_choice& choice) {
  const auto taken = [&](const side& one) {
    const std::string& environment = one.environment.empty() ? where : one.environment;
    const auto has_runs = [&](const std::string& place) {
      return choice.takes(named(experiment.environments, place));
    };
    return !one.settings.empty() && has_runs(environment) &&
           (of.of != measure::relative || has_runs(named(experiment.environments, environment).baseline));
  };
  return choice.enough_cpus(of) && choice.takes(named(experiment.programs, program)) && taken(of.left) &&
         (!of.right || taken(*of.right));
}

/// The reason why no program and environment of a claim is part of the runs. \param of as in the file
std::string reason_for_no_cells(const experiment& experiment, const claim& of, const run_choice& choice) {
  const run_choice all{.cpus = choice.cpus};
  for (const std::string& program : of.programs)
    for (const std::string& where : of.environments)
      if (takes_part(experiment, taken_claim(experiment, of, all), program, where, all))
        return "none of its programs and environments is part of a quick run";
  return "it compares what needs more CPUs than the " + std::to_string(choice.cpus) + " here";
}

}  // namespace

const char* name_of(verdict verdict) {
  switch (verdict) {
    case verdict::holds:
      return "holds";
    case verdict::does_not_hold:
      return "does not hold";
    case verdict::undecided:
      return "undecided";
    case verdict::cannot_be_shown:
      return "cannot be shown here";
  }
  return "";
}

double value_of(measure measure, const environment& where, double seconds) {
  return measure == measure::converted ? seconds / static_cast<double>(where.copies) : seconds;
}

std::optional<double> relative_time(const program& of, const setting& how, const environment& where,
                                    const measured& runs, unsigned cpus) {
  if (where.baseline.empty()) return std::nullopt;
  std::vector<double> times, targets;
  for (const auto& [round, seconds] : runs.of(of.name, how.name, where.name)) times.push_back(seconds);
  for (const auto& [round, seconds] : runs.of(of.name, how.name, where.baseline)) targets.push_back(seconds);
  if (times.empty() || targets.empty()) return std::nullopt;
  const double ratio = median_of(times) / (median_of(targets) * target_factor(where, cpus));
  return std::isnan(ratio) ? std::nullopt : std::optional(ratio);
}

std::optional<relative_at> worst_relative_time(const experiment& experiment, const program& of,
                                               const setting& how, std::optional<environment_kind> kind,
                                               const run_choice& choice, const measured& runs,
                                               unsigned cpus) {
  std::optional<relative_at> worst;
  for (const environment& where : experiment.environments) {
    if (!choice.takes(where) || (kind && where.kind != *kind)) continue;
    const std::optional<double> ratio = relative_time(of, how, where, runs, cpus);
    if (ratio && (!worst || *ratio > worst->relative)) worst = {where.name, *ratio};
  }
  return worst;
}

std::map<environment_kind, std::size_t> kinds_with_targets(const experiment& experiment,
                                                           const run_choice& choice) {
  std::map<environment_kind, std::size_t> kinds;
  for (const environment& where : experiment.environments)
    if (choice.takes(where) && !where.baseline.empty() &&
        choice.takes(named(experiment.environments, where.baseline)))
      ++kinds[where.kind];
  return kinds;
}

std::vector<judged_claim> judge(const experiment& experiment, const run_choice& choice, const measured& runs,
                                const test_bed& where) {
  std::vector<judged_claim> all;
  for (const claim& one : experiment.claims) {
    judged_claim result;
    result.claim = taken_claim(experiment, one, choice);
    for (const std::string& program : one.programs) {
      std::vector<std::string> places;
      // These runs may lack all environments of the right side.
      if (one.right && !one.right->environments.empty() && result.claim.right->environments.empty()) continue;
      for (const std::string& place : one.environments)
        if (takes_part(experiment, result.claim, program, place, choice)) places.push_back(place);
      if (places.empty()) continue;
      if (one.worst)
        result.cells.push_back(judge_cell(experiment, result.claim, program, places, runs, where));
      for (const std::string& place : places)
        if (!one.worst)
          result.cells.push_back(judge_cell(experiment, result.claim, program, {place}, runs, where));
    }
    decide(result);
    if (result.cells.empty()) result.reason = reason_for_no_cells(experiment, one, choice);
    if (!one.missing.empty()) {
      result.outcome = verdict::cannot_be_shown;
      result.reason = one.missing;
    }
    // This is unknown until the first machine has been set up.
    const bool no_machine_yet = where.accelerator.empty() && !where.obstacles.contains("vms");
    if (!one.needs.empty() && where.accelerator != one.needs && !no_machine_yet) {
      result.outcome = verdict::cannot_be_shown;
      result.reason = "it needs virtual machines of KVM; here they are emulated or there are none";
    }
    all.push_back(std::move(result));
  }
  return all;
}

}  // namespace sukima::lab
