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

/// Until the guests of an environment are up: a boot, and what guests that boot at once cost one another
/// (measured with emulation: 2.6 s for one, 6.5 s for four).
constexpr double boot_seconds = 2.6, further_boot_seconds = 1.3;

double set_up_seconds(const environment& where) {
  return where.kind == environment_kind::vms ? boot_seconds + further_boot_seconds * (where.copies - 1) : 0;
}

/// How long a run of a cell will take: as the runs before it; else the program's time alone, as much longer
/// as CPU is short; never longer than the limit.
double expected_seconds(const experiment& what, const cell& of, bool quick, unsigned cpus,
                        const std::vector<record>& done) {
  const program& runs = what.programs[of.program];
  const environment& where = what.environments[of.environment];
  double before = 0, count = 0;
  for (const record& one : done)
    if (one.experiment == what.name && one.program == runs.name && one.environment == where.name &&
        one.setting == what.settings[of.setting].name && one.failure.empty()) {
      before += one.wall_seconds;
      ++count;
    }
  if (count > 0) return before / count;
  const std::optional<double> alone = quick && runs.quick_seconds ? runs.quick_seconds : runs.seconds;
  return alone ? std::min(what.limit_seconds, *alone * target_factor(where, cpus)) : what.limit_seconds;
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
  std::size_t all_runs = 0;
  double all_seconds = 0;
  for (const experiment& one : all) {
    const measured before(one.name, done);
    const std::vector<planned_run> runs = plan_runs(one, choice);
    std::set<std::size_t> used;
    std::set<std::pair<unsigned, std::size_t>> set_up;
    std::size_t ready = 0;
    double seconds = 0;
    for (const planned_run& run : runs) {
      used.insert(run.what.environment);
      if (before.done(one.programs[run.what.program].name, one.settings[run.what.setting].name,
                      one.environments[run.what.environment].name, run.round)) {
        ++ready;
        continue;
      }
      seconds += expected_seconds(one, run.what, choice.quick, cpus, done);
      if (set_up.emplace(run.round, run.what.environment).second)
        seconds += set_up_seconds(one.environments[run.what.environment]);
    }
    all_runs += runs.size() - ready;
    all_seconds += seconds;
    text += fmt::format("{}: {} runs, {} of them done; about {}, at most {}\n", one.name, runs.size(), ready,
                        duration_text(seconds),
                        duration_text(static_cast<double>(runs.size() - ready) * one.limit_seconds));
    for (const std::size_t position : used) {
      const environment& where = one.environments[position];
      text += fmt::format("  {}: {}, {} {}, {} CPUs to be seen\n", where.name, name_of(where.kind),
                          where.copies, where.copies == 1 ? "copy" : "copies", visible_cpus(where, cpus));
    }
  }
  if (all.size() > 1)
    text += fmt::format("together: {} runs, about {}\n", all_runs, duration_text(all_seconds));
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
