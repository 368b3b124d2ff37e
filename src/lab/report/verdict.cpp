// SPDX-License-Identifier: Apache-2.0
// Judging claims; see verdict.hpp.
#include "shared/verdict.hpp"

#include <algorithm>
#include <cmath>

namespace sukima::lab {
namespace {

template <class Thing>
const Thing& named(const std::vector<Thing>& all, const std::string& name) {
  return *std::ranges::find(all, name, &Thing::name);
}

/// The cells of one side for one program.
struct operand {
  std::vector<const rounds*> cells;
  std::vector<std::string> settings;
  const environment* where = nullptr;
  double factor = 1;  ///< to multiply the times with
};

operand operand_of(const experiment& what, const side& from, const std::string& program,
                   const std::string& where, measure of, const measured& runs) {
  operand result;
  const std::string& environment_name = from.environment.empty() ? where : from.environment;
  result.where = &named(what.environments, environment_name);
  result.settings = from.settings;
  for (const std::string& setting : from.settings)
    result.cells.push_back(&runs.of(program, setting, environment_name));
  if (of != measure::relative) result.factor = value_of(of, *result.where, 1);
  return result;
}

/// The target times of a cell.
operand target_of(const experiment& what, const operand& left, const std::string& program,
                  const measured& runs, unsigned cpus) {
  operand result = left;
  result.where = &named(what.environments, left.where->baseline);
  result.cells.clear();
  for (const std::string& setting : left.settings)
    result.cells.push_back(&runs.of(program, setting, result.where->name));
  result.factor = target_factor(*left.where, cpus);
  return result;
}

/// The rounds that all cells of both sides have.
std::vector<unsigned> common_rounds(const operand& left, const operand& right) {
  std::vector<unsigned> common;
  for (const auto& [round, unused] : *left.cells.front()) {
    const auto has_it = [&, number = round](const rounds* one) { return one->contains(number); };
    if (std::ranges::all_of(left.cells, has_it) && std::ranges::all_of(right.cells, has_it))
      common.push_back(round);
  }
  return common;
}

std::vector<double> values_at(const rounds& cell, const std::vector<unsigned>& common, double factor) {
  std::vector<double> values;
  for (const unsigned round : common) values.push_back(cell.at(round) * factor);
  return values;
}

/// Why an operand has no runs: what prevented its environment, or its last failure.
std::string reason_for_nothing(const operand& one, const std::string& program, const measured& runs,
                               const test_bed& bed) {
  if (const auto found = bed.obstacles.find(name_of(one.where->kind)); found != bed.obstacles.end())
    return found->second;
  for (const std::string& setting : one.settings)
    if (std::string why = runs.failure(program, setting, one.where->name); !why.empty()) return why;
  return {};
}

verdict outcome_of(const interval& ratio, const claim& what) {
  if (what.above ? ratio.low > what.bound : ratio.high < what.bound) return verdict::holds;
  if (what.above ? ratio.high <= what.bound : ratio.low >= what.bound) return verdict::does_not_hold;
  return verdict::undecided;
}

judged_cell judge_cell(const experiment& what, const claim& of, const std::string& program,
                       const std::string& where, const measured& runs, const test_bed& bed) {
  judged_cell result;
  result.program = program;
  result.environment = where;
  const operand left = operand_of(what, of.left, program, where, of.of, runs);
  const operand right = of.right ? operand_of(what, *of.right, program, where, of.of, runs)
                                 : target_of(what, left, program, runs, bed.cpus);
  const std::vector<unsigned> common = common_rounds(left, right);
  if (common.size() < fewest_rounds) {
    result.reason = reason_for_nothing(left, program, runs, bed);
    if (result.reason.empty()) result.reason = reason_for_nothing(right, program, runs, bed);
    if (!result.reason.empty()) result.outcome = verdict::cannot_be_shown;
    if (result.reason.empty())
      result.reason = "only " + std::to_string(common.size()) + " of at least " +
                      std::to_string(fewest_rounds) + " rounds were run";
    return result;
  }
  // Of several settings on the left, too, the fastest or slowest counts: by its median.
  std::vector<double> chosen = values_at(*left.cells.front(), common, left.factor);
  for (const rounds* const one : left.cells) {
    std::vector<double> values = values_at(*one, common, left.factor);
    const double a = median_of(values), b = median_of(chosen);
    if (of.left.worst ? a > b : a < b) chosen = std::move(values);
  }
  std::vector<std::vector<double>> others;
  for (const rounds* const one : right.cells) others.push_back(values_at(*one, common, right.factor));
  result.ratio = bootstrap_ratio(chosen, others, of.right && of.right->worst);
  if (!result.ratio)
    result.reason = "runs of both sides were stopped at the time limit";
  else
    result.outcome = outcome_of(*result.ratio, of);
  if (result.ratio && result.outcome == verdict::undecided) result.reason = "the interval contains the bound";
  return result;
}

void decide(judged_claim& one) {
  const auto count = [&](verdict outcome) {
    return static_cast<std::size_t>(
        std::ranges::count_if(one.cells, [&](const judged_cell& cell) { return cell.outcome == outcome; }));
  };
  const auto all = static_cast<double>(one.cells.size());
  const auto wanted = static_cast<std::size_t>(std::ceil(one.what.in * all - 1e-9));
  const auto reason_of = [&](verdict outcome) {
    const auto found = std::ranges::find(one.cells, outcome, &judged_cell::outcome);
    return found == one.cells.end() ? std::string()
                                    : found->program + " in " + found->environment + ": " + found->reason;
  };
  if (one.cells.empty()) {
    one.outcome = verdict::cannot_be_shown;
    one.reason = "none of its programs and environments is part of a quick run";
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

/// A side without the settings that are not for --quick.
side quick_side(const experiment& what, side one) {
  std::erase_if(one.settings, [&](const std::string& name) { return !named(what.settings, name).quick; });
  return one;
}

/// Whether what the claim compares for an environment is part of these runs; its settings are.
bool takes_part(const experiment& what, const claim& of, const std::string& program, const std::string& where,
                const run_choice& choice) {
  if (!choice.quick) return true;
  const auto quick = [&](const side& one) {
    const std::string& environment = one.environment.empty() ? where : one.environment;
    return !one.settings.empty() && named(what.environments, environment).quick;
  };
  return named(what.programs, program).quick && quick(of.left) && (!of.right || quick(*of.right));
}

}  // namespace

const char* name_of(verdict what) {
  switch (what) {
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

double value_of(measure what, const environment& where, double seconds) {
  return what == measure::converted ? seconds / static_cast<double>(where.copies) : seconds;
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

std::vector<judged_claim> judge(const experiment& what, const run_choice& choice, const measured& runs,
                                const test_bed& where) {
  std::vector<judged_claim> all;
  for (const claim& one : what.claims) {
    judged_claim result;
    result.what = one;
    if (choice.quick) {
      result.what.left = quick_side(what, one.left);
      if (one.right) result.what.right = quick_side(what, *one.right);
    }
    for (const std::string& program : one.programs) {
      for (const std::string& place : one.environments)
        if (takes_part(what, result.what, program, place, choice))
          result.cells.push_back(judge_cell(what, result.what, program, place, runs, where));
    }
    decide(result);
    if (!one.missing.empty()) {
      result.outcome = verdict::cannot_be_shown;
      result.reason = one.missing;
    }
    if (!one.needs.empty() && where.accelerator != one.needs) {
      result.outcome = verdict::cannot_be_shown;
      result.reason = "it needs virtual machines of KVM; here they are emulated or there are none";
    }
    all.push_back(std::move(result));
  }
  return all;
}

}  // namespace sukima::lab
