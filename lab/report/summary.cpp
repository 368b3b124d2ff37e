// SPDX-License-Identifier: Apache-2.0
// Counts the verdicts of a folder; see summary.hpp.
#include "report/summary.hpp"

#include <base/shared/assert.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "shared/count_text.hpp"
#include "shared/statistics.hpp"

namespace sukima::lab {
namespace {

using nlohmann::ordered_json;

constexpr std::array all_verdicts{verdict::holds, verdict::does_not_hold, verdict::undecided,
                                  verdict::cannot_be_shown};

const char* verb_of(verdict one, std::size_t count) {
  switch (one) {
    case verdict::holds:
      return count == 1 ? "holds" : "hold";
    case verdict::does_not_hold:
      return count == 1 ? "does not hold" : "do not hold";
    case verdict::undecided:
      return count == 1 ? "is undecided" : "are undecided";
    case verdict::cannot_be_shown:
      return "cannot be shown here";
  }
  return "";
}

verdict_counts counts_of(const std::vector<judged_experiment>& all) {
  verdict_counts counts;
  for (const judged_experiment& judged : all)
    for (const judged_claim& one : judged.claims) counts.add(one.outcome);
  return counts;
}

/// The states of figures with their numbers, in the order of the report.
std::string states_text(const std::vector<judged_figure>& figures) {
  std::string text;
  for (const char* const state : {"decided", "mixed", "undecided", "cannot be shown here"}) {
    const auto count = std::ranges::count_if(
        figures, [&](const judged_figure& one) { return std::string_view(one.state()) == state; });
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
  }
  return text;
}

/// A line for each claim that does not hold, with the cells that refute it.
std::string refuted_text(const std::vector<judged_experiment>& all) {
  std::string text;
  for (const judged_experiment& judged : all) {
    for (const judged_claim& one : judged.claims) {
      if (one.outcome != verdict::does_not_hold) continue;
      text += fmt::format("- {}: {}{}", judged.experiment->name, one.claim.text,
                          one.claim.figure.empty() ? "" : fmt::format(" ({})", one.claim.figure));
      for (const judged_cell& cell : one.cells)
        if (cell.outcome == verdict::does_not_hold)
          text += fmt::format("\n  - {}, {}: {}", cell.program, cell.environment, ratio_text(cell));
      text += "\n";
    }
  }
  return text.empty() ? text : "What does not hold:\n\n" + text + "\n";
}

}  // namespace

std::vector<judged_experiment> judge_all(const recorded_runs& runs) {
  std::vector<judged_experiment> all;
  for (const experiment& experiment : runs.experiments)
    all.push_back({&experiment,
                   judge(experiment, runs.facts.choice, measured(experiment, runs.records), runs.facts.bed)});
  return all;
}

std::string verdict_counts::text() const {
  std::string text;
  for (const verdict one : all_verdicts)
    if (const std::size_t count = of(one); count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verb_of(one, count));
  return text;
}

const char* judged_figure::state() const {
  if (claims.decided() == claims.all()) return "decided";
  if (claims.decided() > 0) return "mixed";
  return claims.of(verdict::cannot_be_shown) == claims.all() ? "cannot be shown here" : "undecided";
}

std::vector<judged_figure> figures_of(const std::vector<judged_experiment>& all) {
  std::vector<judged_figure> figures;
  for (const judged_experiment& judged : all) {
    for (const judged_claim& one : judged.claims) {
      if (one.claim.figure.empty()) continue;
      auto found = std::ranges::find(figures, one.claim.figure, &judged_figure::name);
      if (found == figures.end()) found = figures.insert(found, {one.claim.figure, {}});
      found->claims.add(one.outcome);
    }
  }
  SUKIMA_ASSERT(std::ranges::none_of(figures, [](const judged_figure& one) { return one.claims.all() == 0; }),
                "a figure has a claim about it");
  return figures;
}

std::string summary_text(const recorded_runs& runs, const std::vector<judged_experiment>& all) {
  const verdict_counts claims = counts_of(all);
  if (claims.all() == 0) return {};
  const std::vector<judged_figure> figures = figures_of(all);
  std::string text = fmt::format("Of {} {} {} decided: {}.", count_text(claims.all(), "claim"),
                                 claims.decided(), claims.decided() == 1 ? "is" : "are", claims.text());
  if (!figures.empty())
    text += fmt::format(
        " Figures and sections of papers that they are about: {}. A figure is decided if all claims about it "
        "are, and "
        "mixed if only some are.",
        states_text(figures));
  text += " Verdicts are at a confidence of 95 %.";
  if (runs.facts.choice.quick)
    text += " These are quick runs: fewer programs, environments and rounds, and smaller sizes.";
  return text + "\n\n" + refuted_text(all);
}

ordered_json summary_json(const recorded_runs& runs, const std::vector<judged_experiment>& all) {
  const verdict_counts counts = counts_of(all);
  ordered_json claims, figures = ordered_json::array(), refuted = ordered_json::array();
  for (const verdict one : all_verdicts) claims[name_of(one)] = counts.of(one);
  for (const judged_figure& one : figures_of(all)) {
    ordered_json entry = {{"figure", one.name}, {"state", one.state()}};
    for (const verdict outcome : all_verdicts) entry[name_of(outcome)] = one.claims.of(outcome);
    figures.push_back(std::move(entry));
  }
  for (const judged_experiment& judged : all)
    for (const judged_claim& one : judged.claims)
      if (one.outcome == verdict::does_not_hold)
        refuted.push_back(judged.experiment->name + "/" + one.claim.name);
  return {{"quick", runs.facts.choice.quick},
          {"confidence", 0.95},
          {"claims", std::move(claims)},
          {"figures", std::move(figures)},
          {"does_not_hold", std::move(refuted)}};
}

std::string ratio_text(const judged_cell& one) {
  if (!one.ratio) return one.reason;
  const auto text = [](double value) {
    return std::isfinite(value) ? fmt::format("{}", round_significant(value, 3)) : std::string("infinite");
  };
  return fmt::format("{} ({} to {})", text(one.ratio->estimate), text(one.ratio->low), text(one.ratio->high));
}

std::string part_text(const judged_claim& one) {
  std::set<std::string> programs, environments;
  for (const judged_cell& cell : one.cells) {
    programs.insert(cell.program);
    if (cell.worst_of.empty())
      environments.insert(cell.environment);
    else
      environments.insert(cell.worst_of.begin(), cell.worst_of.end());
  }
  if (one.cells.empty()) return {};
  std::string text;
  const auto add = [&](std::size_t here, std::size_t all, const char* kind) {
    if (here < all) text += fmt::format("{}{} of its {} {}", text.empty() ? "Here: " : ", ", here, all, kind);
  };
  add(programs.size(), one.claim.programs.size(), "programs");
  add(environments.size(), one.claim.environments.size(), "environments");
  return text.empty() ? text : text + ".";
}

}  // namespace sukima::lab
