// SPDX-License-Identifier: Apache-2.0
// Tables and verdicts; see report.hpp.
#include "shared/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "report/summary.hpp"
#include "shared/count_text.hpp"

namespace sukima::lab {
namespace {

using nlohmann::ordered_json;

/// Three digits, or "stopped" for a run without a time.
std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{}", round_significant(value, 3)) : "stopped";
}

ordered_json number_json(double value) {
  return std::isfinite(value) ? ordered_json(round_significant(value, 6)) : ordered_json();
}

/// The programs, settings or environments that are part of the runs.
template <class Thing>
std::vector<const Thing*> taken(const std::vector<Thing>& all, const run_choice& choice) {
  std::vector<const Thing*> result;
  for (const Thing& one : all)
    if (choice.takes(one)) result.push_back(&one);
  return result;
}

std::optional<quartiles> figures_of(const experiment& experiment, const measured& runs, const program& of,
                                    const setting& how, const environment& where) {
  std::vector<double> values;
  for (const auto& [round, seconds] : runs.of(of.name, how.name, where.name))
    values.push_back(value_of(experiment.shown, where, seconds));
  if (values.empty()) return std::nullopt;
  return quartiles_of(std::move(values));
}

/// In tables and plots.
std::string unit_of(const experiment& experiment, const setting& how) {
  return how.unit + (experiment.shown == measure::converted ? " / copies" : "");
}

/// A column after those of the environments.
struct last_column {
  std::string name;
  std::function<std::string(const program&, const setting&)> text;
};

/// A table with a row for each program and setting and a column for each environment, and perhaps others.
/// \param row_name the text of a setting
std::string table_of(const experiment& experiment, const run_choice& choice,
                     const std::vector<last_column>& last, auto row_name, auto cell_text) {
  std::string head = "| program | setting |", line = "|---|---|";
  const auto environments = taken(experiment.environments, choice);
  const auto add_column = [&](const std::string& name) {
    head += " " + name + " |";
    line += "---|";
  };
  for (const environment* const where : environments) add_column(where->name);
  for (const last_column& one : last) add_column(one.name);
  std::string text = head + "\n" + line + "\n";
  for (const program* const of : taken(experiment.programs, choice)) {
    for (const setting* const how : taken(experiment.settings, choice)) {
      text += fmt::format("| {} | {} |", of->name, row_name(*how));
      for (const environment* const where : environments) text += " " + cell_text(*of, *how, *where) + " |";
      for (const last_column& one : last) text += " " + one.text(*of, *how) + " |";
      text += "\n";
    }
  }
  return text + "\n";
}

/// A column of worst relative times: over the environments of a kind, or over all.
struct worst_column {
  std::string name;
  std::optional<environment_kind> kind;
};

/// One column for each kind with several environments, if there are several kinds, and one for all. No
/// columns without target times.
std::vector<worst_column> worst_columns(const experiment& experiment, const run_choice& choice) {
  std::vector<worst_column> columns;
  const std::map<environment_kind, std::size_t> kinds = kinds_with_targets(experiment, choice);
  for (const auto& [kind, count] : kinds)
    if (kinds.size() > 1 && count > 1) columns.push_back({std::string("worst ") + name_of(kind), kind});
  if (!kinds.empty()) columns.push_back({"worst", std::nullopt});
  return columns;
}

std::string times_text(const experiment& experiment, const recorded_runs& all, const measured& runs) {
  const auto is_time = [](const setting* one) { return one->unit == setting().unit; };
  const bool has_counts = !std::ranges::all_of(taken(experiment.settings, all.facts.choice), is_time);
  const std::string text =
      fmt::format("Seconds{}, the mean over the copies{}: median (first to third quartile).\n\n",
                  has_counts ? " (or the unit behind the setting's name)" : "",
                  experiment.shown == measure::converted ? " divided by their number" : "");
  const auto row_name = [&](const setting& how) {
    return is_time(&how) ? how.name : fmt::format("{} ({})", how.name, how.unit);
  };
  const auto cell = [&](const program& of, const setting& how, const environment& where) {
    const auto figures = figures_of(experiment, runs, of, how, where);
    if (!figures) return std::string("–");
    return fmt::format("{} ({} to {})", number_text(figures->median), number_text(figures->q1),
                       number_text(figures->q3));
  };
  return text + table_of(experiment, all.facts.choice, {}, row_name, cell);
}

std::string relative_text(const experiment& experiment, const recorded_runs& all, const measured& runs) {
  const std::vector<worst_column> worst = worst_columns(experiment, all.facts.choice);
  if (worst.empty()) return {};
  const unsigned cpus = all.facts.bed.cpus;
  const auto cell = [&](const program& of, const setting& how, const environment& where) {
    const auto ratio = relative_time(of, how, where, runs, cpus);
    return ratio ? number_text(*ratio) : std::string("–");
  };
  std::vector<last_column> last;
  for (const worst_column& one : worst)
    last.push_back({one.name, [&, kind = one.kind](const program& of, const setting& how) {
                      const auto most =
                          worst_relative_time(experiment, of, how, kind, all.facts.choice, runs, cpus);
                      return most ? number_text(most->relative) : std::string("–");
                    }});
  return "Measured by target time: 1 is what the CPU that is left allows.\n\n" +
         table_of(experiment, all.facts.choice, last, [](const setting& how) { return how.name; }, cell);
}

std::string claim_text(const judged_claim& one, const std::string& scaled) {
  std::string text =
      fmt::format("- **{}**: {}{}", name_of(one.outcome), one.claim.text,
                  one.claim.figure.empty() ? "" : fmt::format(" ({}{})", one.claim.figure, scaled));
  if (!one.claim.found.empty()) text += fmt::format("\n  - The paper has: {}", one.claim.found);
  if (const std::string part = part_text(one); !part.empty()) text += "\n  - " + part;
  if (!one.reason.empty()) text += fmt::format("\n  - Why: {}.", one.reason);
  for (const judged_cell& cell : one.cells)
    text +=
        fmt::format("\n  - {}, {}{}{}: {}, {}", cell.program, cell.environment,
                    cell.worst_of.size() > 1 ? fmt::format(" (the worst of {})", cell.worst_of.size()) : "",
                    cell.taken.empty() ? "" : fmt::format(" (by the use: {})", cell.taken), ratio_text(cell),
                    name_of(cell.outcome));
  return text + "\n";
}

/// The verdicts of one experiment.
std::string counts_text(const std::vector<judged_claim>& claims) {
  verdict_counts counts;
  for (const judged_claim& one : claims) counts.add(one.outcome);
  return fmt::format("{}: {}.\n\n", count_text(claims.size(), "claim"), counts.text());
}

std::string scaled_text(const experiment& experiment, const recorded_runs& runs) {
  if (!experiment.paper_cpus || *experiment.paper_cpus == runs.facts.bed.cpus) return {};
  return fmt::format("; scaled from {} CPUs to {}", *experiment.paper_cpus, runs.facts.bed.cpus);
}

ordered_json claim_json(const judged_claim& one) {
  ordered_json cells = ordered_json::array();
  for (const judged_cell& cell : one.cells) {
    ordered_json entry = {
        {"program", cell.program}, {"environment", cell.environment}, {"verdict", name_of(cell.outcome)}};
    entry["text"] = ratio_text(cell);
    if (cell.ratio)
      entry["ratio"] = {{"estimate", number_json(cell.ratio->estimate)},
                        {"low", number_json(cell.ratio->low)},
                        {"high", number_json(cell.ratio->high)}};
    if (!cell.worst_of.empty()) entry["worst_of"] = cell.worst_of;
    if (!cell.taken.empty()) entry["taken"] = cell.taken;
    if (!cell.reason.empty()) entry["reason"] = cell.reason;
    cells.push_back(std::move(entry));
  }
  ordered_json entry = {{"name", one.claim.name},         {"text", one.claim.text},
                        {"figure", one.claim.figure},     {"found", one.claim.found},
                        {"bound", one.claim.bound},       {"relation", one.claim.above ? "above" : "below"},
                        {"verdict", name_of(one.outcome)}};
  if (!one.reason.empty()) entry["reason"] = one.reason;
  if (const std::string part = part_text(one); !part.empty()) entry["part"] = part;
  entry["cells"] = std::move(cells);
  return entry;
}

ordered_json cells_json(const experiment& experiment, const recorded_runs& all, const measured& runs) {
  ordered_json cells = ordered_json::array();
  for (const program* const of : taken(experiment.programs, all.facts.choice)) {
    for (const setting* const how : taken(experiment.settings, all.facts.choice)) {
      for (const environment* const where : taken(experiment.environments, all.facts.choice)) {
        ordered_json entry = {{"program", of->name}, {"setting", how->name}, {"environment", where->name}};
        entry["unit"] = unit_of(experiment, *how);
        entry["rounds"] = runs.of(of->name, how->name, where->name).size();
        if (const auto figures = figures_of(experiment, runs, *of, *how, *where)) {
          entry["q1"] = number_json(figures->q1);
          entry["median"] = number_json(figures->median);
          entry["q3"] = number_json(figures->q3);
        }
        if (const auto ratio = relative_time(*of, *how, *where, runs, all.facts.bed.cpus))
          entry["relative"] = number_json(*ratio);
        if (const std::string why = runs.failure(of->name, how->name, where->name); !why.empty())
          entry["failure"] = why;
        cells.push_back(std::move(entry));
      }
    }
  }
  return cells;
}

/// The worst relative times of each program with each setting.
ordered_json worst_json(const experiment& experiment, const recorded_runs& all, const measured& runs) {
  ordered_json entries = ordered_json::array();
  for (const program* const of : taken(experiment.programs, all.facts.choice)) {
    for (const setting* const how : taken(experiment.settings, all.facts.choice)) {
      for (const worst_column& one : worst_columns(experiment, all.facts.choice)) {
        const auto most =
            worst_relative_time(experiment, *of, *how, one.kind, all.facts.choice, runs, all.facts.bed.cpus);
        if (!most) continue;
        entries.push_back({{"program", of->name},
                           {"setting", how->name},
                           {"of", one.kind ? name_of(*one.kind) : "all"},
                           {"environment", most->environment},
                           {"relative", number_json(most->relative)}});
      }
    }
  }
  return entries;
}

std::string failures_text(const experiment& experiment, const std::vector<record>& records,
                          const measured& runs) {
  if (runs.failures() == 0) return {};
  std::string text = fmt::format("{} failed. The last one:", count_text(runs.failures(), "run"));
  std::string last;
  for (const record& one : records)
    if (one.experiment == experiment.name && !one.failure.empty() &&
        !runs.done(one.program, one.setting, one.environment, one.round))
      last = fmt::format(" {} with {} in {}: {}", one.program, one.setting, one.environment, one.failure);
  return text + last + "\n\n";
}

std::string machine_text(const run_facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts.machine) text += fmt::format("- {}: {}\n", name, value);
  for (const auto& [name, value] : facts.versions) text += fmt::format("- {}: {}\n", name, value);
  if (!facts.bed.accelerator.empty())
    text +=
        fmt::format("- virtual machines: {}\n",
                    facts.bed.accelerator == "kvm" ? "QEMU with KVM" : "QEMU, emulated (TCG): no steal time");
  for (const auto& [kind, why] : facts.bed.obstacles) text += fmt::format("- no '{}' here: {}\n", kind, why);
  return text + "\n";
}

}  // namespace

std::string report_text(const recorded_runs& all) {
  const std::vector<judged_experiment> judged = judge_all(all);
  std::string text = "# Results of the lab\n\n" + summary_text(all, judged) + machine_text(all.facts);
  for (const judged_experiment& one : judged) {
    const experiment& experiment = *one.experiment;
    const measured runs(experiment, all.records);
    text += fmt::format("## {}: {}\n\n", experiment.name, experiment.title);
    if (!experiment.source.empty()) text += fmt::format("Source: {}.\n\n", experiment.source);
    text += times_text(experiment, all, runs) + relative_text(experiment, all, runs) +
            failures_text(experiment, all.records, runs);
    if (experiment.claims.empty()) continue;
    text += counts_text(one.claims);
    for (const judged_claim& claim : one.claims) text += claim_text(claim, scaled_text(experiment, all));
    text += "\n";
  }
  return text;
}

ordered_json report_json(const recorded_runs& all) {
  const std::vector<judged_experiment> judged = judge_all(all);
  ordered_json document = {{"summary", summary_json(all, judged)},
                           {"machine", ordered_json::object()},
                           {"cpus", all.facts.bed.cpus}};
  for (const auto& [name, value] : all.facts.machine) document["machine"][name] = value;
  document["versions"] = all.facts.versions;
  document["accelerator"] = all.facts.bed.accelerator;
  document["obstacles"] = all.facts.bed.obstacles;
  document["experiments"] = ordered_json::array();
  for (const judged_experiment& one : judged) {
    const experiment& experiment = *one.experiment;
    const measured runs(experiment, all.records);
    ordered_json entry = {{"name", experiment.name},
                          {"title", experiment.title},
                          {"source", experiment.source},
                          {"shown", name_of(experiment.shown)}};
    if (experiment.paper_cpus) entry["paper_cpus"] = *experiment.paper_cpus;
    entry["failures"] = runs.failures();
    entry["cells"] = cells_json(experiment, all, runs);
    entry["worst"] = worst_json(experiment, all, runs);
    entry["claims"] = ordered_json::array();
    for (const judged_claim& claim : one.claims) entry["claims"].push_back(claim_json(claim));
    document["experiments"].push_back(std::move(entry));
  }
  return document;
}

}  // namespace sukima::lab
