// SPDX-License-Identifier: Apache-2.0
// Lists of experiments, plans and durations; see report.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "shared/report.hpp"

namespace sukima::lab {
namespace {

using nlohmann::ordered_json;

std::string kinds_of(const experiment& what) {
  std::string text;
  std::set<environment_kind> seen;
  for (const environment& one : what.environments)
    if (seen.insert(one.kind).second)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(one.kind));
  return text;
}

}  // namespace

std::string list_text(const std::vector<experiment>& all) {
  std::size_t width = 10;
  for (const experiment& one : all) width = std::max(width, one.name.size());
  std::string text;
  for (const experiment& one : all)
    text += fmt::format("{:<{}}  {} ({}; {} runs, {} with --quick; {} claims)\n", one.name, width, one.title,
                        kinds_of(one), plan_runs(one, {}).size(), plan_runs(one, {.quick = true}).size(),
                        one.claims.size());
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
  for (const experiment& one : all) {
    const measured before(one.name, done);
    const std::vector<planned_run> runs = plan_runs(one, choice);
    std::set<std::size_t> used;
    std::size_t ready = 0;
    for (const planned_run& run : runs) {
      used.insert(run.what.environment);
      ready += before.done(one.programs[run.what.program].name, one.settings[run.what.setting].name,
                           one.environments[run.what.environment].name, run.round);
    }
    text += fmt::format("{}: {} runs, {} of them done; at most {}\n", one.name, runs.size(), ready,
                        duration_text(static_cast<double>(runs.size() - ready) * one.limit_seconds));
    for (const std::size_t position : used) {
      const environment& where = one.environments[position];
      text += fmt::format("  {}: {}, {} {}, {} CPUs to be seen\n", where.name, name_of(where.kind),
                          where.copies, where.copies == 1 ? "copy" : "copies", visible_cpus(where, cpus));
    }
  }
  return text;
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::ceil(seconds));
  const auto minutes = static_cast<long>(std::ceil(seconds / 60));
  return minutes < 60 ? fmt::format("{} min", minutes)
                      : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

double seconds_left(double seconds_so_far, std::size_t done, std::size_t total) {
  return seconds_so_far / static_cast<double>(done) * static_cast<double>(total - done);
}

}  // namespace sukima::lab
