// SPDX-License-Identifier: Apache-2.0
// Lists of experiments, plans and durations; see report.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "shared/count_text.hpp"
#include "shared/expected_time.hpp"
#include "shared/report.hpp"

namespace sukima::lab {
namespace {

using nlohmann::ordered_json;

std::string kinds_of(const experiment& experiment) {
  std::string text;
  std::set<environment_kind> seen;
  for (const environment& one : experiment.environments)
    if (seen.insert(one.kind).second)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(one.kind));
  return text;
}

/// The paper that an experiment repeats: its source up to the first comma. Empty: none.
std::string paper_of(const experiment& experiment) {
  return experiment.source.substr(0, experiment.source.find(','));
}

/// The papers in their order, and last the empty one if an experiment repeats none.
std::vector<std::string> papers_of(const std::vector<experiment>& all) {
  std::set<std::string> papers;
  for (const experiment& one : all) papers.insert(paper_of(one));
  std::vector<std::string> sorted(papers.begin(), papers.end());
  if (!sorted.empty() && sorted.front().empty()) std::ranges::rotate(sorted, sorted.begin() + 1);
  return sorted;
}

/// The expected runs and times of an experiment.
struct forecast {
  std::size_t runs = 0, done = 0;
  double seconds = 0;  ///< of the runs that are not done
  double most_seconds = 0;  ///< if each of them is stopped at the limit
};

forecast forecast_of(const experiment& experiment, const run_choice& choice, const std::vector<record>& done,
                     unsigned cpus) {
  const measured before(experiment, done);
  const expected_times expected(experiment, choice, cpus, done);
  forecast result;
  for (const planned_run& run : plan_runs(experiment, choice)) {
    ++result.runs;
    if (before.done(experiment.programs[run.cell.program].name, experiment.settings[run.cell.setting].name,
                    experiment.environments[run.cell.environment].name, run.round)) {
      ++result.done;
      continue;
    }
    result.seconds += expected.of(run.cell);
    result.most_seconds += expected.most_of(run.cell);
  }
  return result;
}

/// Differences from the paper that are due to the number of CPUs.
std::string scale_text(const experiment& experiment, const run_choice& choice, unsigned cpus) {
  std::string text, left_out;
  if (experiment.paper_cpus && *experiment.paper_cpus != cpus)
    text = fmt::format("  scaled from the paper's {} CPUs to {}\n", *experiment.paper_cpus, cpus);
  const auto add_names = [&](const auto& all) {
    for (const auto& one : all)
      if (!choice.enough_cpus(one))
        left_out +=
            fmt::format("{}{}, which needs {}", left_out.empty() ? "" : "; ", one.name, one.least_cpus);
  };
  add_names(experiment.settings);
  add_names(experiment.environments);
  if (!left_out.empty()) text += fmt::format("  left out for the number of CPUs: {}\n", left_out);
  return text;
}

}  // namespace

std::string list_text(const std::vector<experiment>& all) {
  std::size_t width = 10;
  for (const experiment& one : all) width = std::max(width, one.name.size());
  const std::vector<std::string> papers = papers_of(all);
  std::string text;
  for (const std::string& paper : papers) {
    const bool has_heading = papers.size() > 1 || !paper.empty();
    if (has_heading) text += (paper.empty() ? "no paper" : paper) + ":\n";
    for (const experiment& one : all)
      if (paper_of(one) == paper)
        text += fmt::format("{}{:<{}}  {} ({}; {}, {} with --quick; {})\n", has_heading ? "  " : "", one.name,
                            width, one.title, kinds_of(one), count_text(plan_runs(one, {}).size(), "run"),
                            plan_runs(one, {.quick = true}).size(), count_text(one.claims.size(), "claim"));
  }
  return text;
}

ordered_json list_json(const std::vector<experiment>& all) {
  ordered_json list = ordered_json::array();
  for (const experiment& one : all)
    list.push_back({{"name", one.name},
                    {"title", one.title},
                    {"source", one.source},
                    {"runs", plan_runs(one, {}).size()},
                    {"quick_runs", plan_runs(one, {.quick = true}).size()},
                    {"claims", one.claims.size()}});
  return list;
}

std::string plan_text(const std::vector<experiment>& all, const run_choice& choice,
                      const std::vector<record>& done, unsigned cpus) {
  std::string text;
  std::size_t all_runs = 0;
  double all_seconds = 0;
  for (const experiment& one : all) {
    const forecast expected = forecast_of(one, choice, done, cpus);
    all_runs += expected.runs - expected.done;
    all_seconds += expected.seconds;
    text += fmt::format("{}: {}, {} of them done; about {}, at most {}\n", one.name,
                        count_text(expected.runs, "run"), expected.done, duration_text(expected.seconds),
                        duration_text(expected.most_seconds));
    for (const environment& where : one.environments)
      if (choice.takes(where))
        text += fmt::format("  {}: {}, {} {}, {} CPUs to be seen, {} left for each\n", where.name,
                            name_of(where.kind), where.copies, where.copies == 1 ? "copy" : "copies",
                            visible_cpus(where, cpus), cpus_left(where, cpus));
    text += scale_text(one, choice, cpus);
  }
  if (all.size() > 1)
    text += fmt::format("together: {}, about {}\n", count_text(all_runs, "run"), duration_text(all_seconds));
  return text;
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::ceil(seconds));
  const auto minutes = static_cast<long>(std::ceil(seconds / 60));
  return minutes < 60 ? fmt::format("{} min", minutes)
                      : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace sukima::lab
