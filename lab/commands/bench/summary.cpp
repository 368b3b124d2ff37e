// SPDX-License-Identifier: Apache-2.0
// Figures of rows; see summary.hpp.
#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/catalogue.hpp"

namespace sukima::cli::bench {
namespace {

std::vector<double> values_of(const row& r, auto value) {
  std::vector<double> values;
  values.reserve(r.samples.size());
  for (const sample& s : r.samples) values.push_back(value(s.measured));
  return values;
}

/// The row of a system with which another row is compared. It has the same scenario and number of workers
/// (any number for the sequential program), and the same compiler if possible, or else it is the fastest.
const row* counterpart(const std::vector<const row*>& rows, const row& of, std::string_view system) {
  const row* best = nullptr;
  const auto rank = [&](const row& r) {
    return std::pair(r.task.compiler != of.task.compiler, median_seconds(r));
  };
  for (const row* r : rows) {
    if (r->task.system != system || r->task.scenario != of.task.scenario) continue;
    if (system != sequential_system && r->task.workers != of.task.workers) continue;
    if (best == nullptr || rank(*r) < rank(*best)) best = r;
  }
  return best;
}

/// Ratios of the common rounds.
std::vector<double> paired_ratios(const row& numerator, const row& denominator) {
  std::map<int, double> by_round;
  for (const sample& s : denominator.samples) by_round[s.round] = s.measured.seconds;
  std::vector<double> ratios;
  for (const sample& s : numerator.samples) {
    const auto other = by_round.find(s.round);
    if (other != by_round.end() && other->second > 0) ratios.push_back(s.measured.seconds / other->second);
  }
  return ratios;
}

summary figures_of(const row& measured) {
  summary s{.task = measured.task,
            .repetitions = static_cast<int>(measured.samples.size()),
            .seconds = quartiles_of(values_of(measured, [](const measurement& m) { return m.seconds; })),
            .slowest = std::ranges::max(values_of(measured, [](const measurement& m) { return m.seconds; })),
            .cpu_seconds = median_of(values_of(measured, [](const measurement& m) { return m.cpu_seconds; })),
            .ratio = {},
            .cpu_ratio = {},
            .own_ratio = {},
            .best_peer = false,
            .ideal = {},
            .more = {},
            .paired = {}};
  if (measured.samples.front().measured.size) s.task.size = measured.samples.front().measured.size;
  std::map<std::string, std::vector<double>> more;
  for (const sample& one : measured.samples) {
    for (const auto& [name, value] : one.measured.more) more[name].push_back(value);
  }
  for (auto& [name, values] : more) s.more[name] = median_of(std::move(values));
  return s;
}

std::vector<const row*> usable_rows(const std::vector<row>& rows) {
  std::vector<const row*> usable;
  for (const row& r : rows) {
    if (!r.failure && !r.samples.empty() && r.task.system != ideal_system) usable.push_back(&r);
  }
  return usable;
}

void mark_best_peers(std::vector<summary>& summaries) {
  std::map<std::pair<std::string, int>, summary*> best;
  for (summary& s : summaries) {
    if (!is_by_peer(s.task)) continue;
    summary*& fastest = best[{s.task.scenario, s.task.workers}];
    if (fastest == nullptr || s.seconds.median < fastest->seconds.median) fastest = &s;
  }
  for (auto& [where, fastest] : best) fastest->best_peer = true;
}

}  // namespace

std::vector<summary> summarise(const std::vector<row>& rows) {
  const std::vector<const row*> usable = usable_rows(rows);
  const auto quotient = [](double numerator, double denominator) -> std::optional<double> {
    if (!(denominator > 0)) return std::nullopt;
    return numerator / denominator;
  };
  const auto over = [&](double numerator, const row* denominator) {
    return denominator == nullptr ? std::nullopt : quotient(numerator, median_seconds(*denominator));
  };
  std::vector<summary> summaries;
  for (const row* r : usable) {
    if (r->task.reference) continue;
    summary s = figures_of(*r);
    s.ideal = ideal_of(*r, rows);
    const row* const sequential = counterpart(usable, *r, sequential_system);
    s.ratio = over(s.seconds.median, sequential);
    if (sequential != nullptr) s.cpu_ratio = quotient(s.cpu_seconds, figures_of(*sequential).cpu_seconds);
    if (is_by_peer(r->task)) {
      if (const row* own = counterpart(usable, *r, own_system)) s.own_ratio = over(median_seconds(*own), r);
    }
    if (r->task.system == own_system) {
      for (const row* other : usable) {
        const std::string& name = other->task.system;
        if (!is_by_peer(other->task) || s.paired.contains(name)) continue;
        const row* peer = counterpart(usable, *r, name);
        if (peer == nullptr) continue;
        const std::vector<double> ratios = paired_ratios(*r, *peer);
        if (!ratios.empty()) s.paired.emplace(name, bootstrap_median(ratios));
      }
    }
    summaries.push_back(std::move(s));
  }
  mark_best_peers(summaries);
  return summaries;
}

std::vector<std::string> outliers(const std::vector<summary>& figures, double factor) {
  std::vector<std::string> sentences;
  for (const summary& s : figures) {
    if (s.task.system != own_system || s.slowest <= factor * s.seconds.median) continue;
    sentences.push_back(fmt::format("{}: the slowest of {} repetitions took {:.2f} times the median",
                                    describe(s.task), s.repetitions, s.slowest / s.seconds.median));
  }
  return sentences;
}

std::vector<std::string> faults_of_sequential(const std::vector<row>& rows) {
  constexpr std::size_t least_rounds = 5;
  const std::vector<const row*> usable = usable_rows(rows);
  std::vector<std::string> faults;
  for (const row* own : usable) {
    const task& task = own->task;
    if (task.system != own_system || task.workers != 1 || task.scenario != "alone") continue;
    const row* const sequential = counterpart(usable, *own, sequential_system);
    if (sequential == nullptr) continue;
    const std::vector<double> ratios = paired_ratios(*own, *sequential);
    if (ratios.size() < least_rounds) continue;
    const interval ratio = bootstrap_median(ratios);
    if (ratio.high >= least_own_ratio) continue;
    faults.push_back(fmt::format(
        "the sequential program of {} is not the best possible: Sukima with one worker takes {:.3f} "
        "[{:.3f}, {:.3f}] of its time, and should take {} or more",
        task.benchmark, ratio.estimate, ratio.low, ratio.high, least_own_ratio));
  }
  return faults;
}

}  // namespace sukima::cli::bench
