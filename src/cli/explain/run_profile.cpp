// SPDX-License-Identifier: Apache-2.0
// Computes the figures of a profile; see run_profile.hpp. diagnosis.cpp draws conclusions from them.
#include "explain/run_profile.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sukima::cli::explain {
namespace {

constexpr std::size_t longest_shown = 3;

const periods& during(const recorded_worker& w, activity kind) {
  return w.during[static_cast<std::size_t>(kind)];
}

void append(periods& to, const periods& list) { to.insert(to.end(), list.begin(), list.end()); }

/// Keeps the longest periods; of equally long ones, the earliest.
void keep_longest(std::vector<long_period>& list) {
  const auto longer = [](const long_period& a, const long_period& b) {
    return a.when.seconds() > b.when.seconds() ||
           (a.when.seconds() == b.when.seconds() && a.when.from < b.when.from);
  };
  const std::size_t count = std::min(list.size(), longest_shown);
  std::ranges::partial_sort(list, list.begin() + static_cast<std::ptrdiff_t>(count), longer);
  list.resize(count);
}

void add(std::vector<long_period>& list, std::uint64_t worker, const periods& those) {
  for (const period& p : those) list.push_back({worker, p});
  keep_longest(list);
}

/// Adds the wait before each steal of a worker.
/// \param idle the periods in which the worker had no work
/// \param with_work the periods in which any worker of the runtime was working
void add_waits(const recorded_worker& w, const periods& idle, const periods& with_work,
               std::vector<double>& waits) {
  const periods waiting = common(idle, with_work);
  for (const recorded_steal& steal : w.steals) {
    // The idle period that the steal ended. A worker that was working took its task without a wait.
    const auto ended = std::ranges::lower_bound(idle, steal.at, {}, &period::to);
    double wait = 0;
    if (ended != idle.end() && ended->from <= steal.at) {
      auto part = std::ranges::lower_bound(waiting, ended->from, {}, &period::from);
      for (; part != waiting.end() && part->from < steal.at; ++part)
        wait += std::min(part->to, steal.at) - part->from;
    }
    waits.push_back(wait);
  }
}

wait_summary summary_of(std::vector<double> waits) {
  wait_summary summary;
  summary.count = waits.size();
  if (waits.empty()) return summary;
  std::ranges::sort(waits);
  const auto quantile = [&](double share) {
    return waits[static_cast<std::size_t>(std::ceil(share * static_cast<double>(waits.size()))) - 1];
  };
  summary.median = quantile(0.5);
  summary.p99 = quantile(0.99);
  summary.longest = waits.back();
  SUKIMA_ASSERT(waits.front() >= 0 && summary.median <= summary.p99, "a wait ends after it begins");
  return summary;
}

/// Adds a worker to the profile.
/// \param with_work the periods in which any worker of the runtime was working
/// \param waits receives the worker's waits for work
void add_worker(const recorded_worker& recorded, const periods& with_work, runtime_profile& profile,
                std::vector<double>& waits) {
  const periods run{profile.run};
  const periods no_cpu = common(recorded.without_cpu, run);
  const auto on_cpu = [&](activity kind) { return without(common(during(recorded, kind), run), no_cpu); };
  worker_profile mine;
  mine.number = recorded.number;
  mine.working = seconds_of(on_cpu(activity::working));
  mine.searching = seconds_of(on_cpu(activity::searching));
  mine.sleeping = seconds_of(on_cpu(activity::sleeping));
  mine.without_cpu = seconds_of(no_cpu);
  const double there = mine.working + mine.searching + mine.sleeping + mine.without_cpu;
  SUKIMA_ASSERT(there <= profile.run.seconds() * (1 + 1e-9) + 1e-6, "a worker does one thing at a time");
  mine.outside = std::max(0.0, profile.run.seconds() - there);
  for (const recorded_steal& steal : recorded.steals) ++mine.steals[steal.victim];
  mine.parks = recorded.parks;
  mine.suspensions = recorded.suspensions;
  mine.is_full = recorded.is_full;
  add(profile.longest_without_cpu, recorded.number, no_cpu);
  periods idle = during(recorded, activity::searching);
  append(idle, during(recorded, activity::sleeping));
  idle = merged(std::move(idle));
  add_waits(recorded, idle, with_work, waits);
  idle = common(idle, with_work);
  add(profile.longest_without_work, recorded.number, idle);
  const double stalled = seconds_of(common(no_cpu, with_work));
  const double had_none = seconds_of(without(idle, no_cpu));
  const double searched = seconds_of(common(on_cpu(activity::searching), with_work));
  profile.seconds_without_cpu += stalled;
  profile.seconds_without_work += had_none;
  profile.seconds_searching += searched;
  profile.seconds_of_workers += mine.working + had_none + stalled;
  profile.workers.push_back(std::move(mine));
}

runtime_profile profile_of(std::uint64_t runtime, const recorded_worker* first, const recorded_worker* last) {
  runtime_profile profile;
  profile.runtime = runtime;
  periods with_work;
  for (const auto* w = first; w != last; ++w) append(with_work, during(*w, activity::working));
  with_work = merged(std::move(with_work));
  if (!with_work.empty()) profile.run = {with_work.front().from, with_work.back().to};
  profile.seconds_with_work = seconds_of(with_work);
  double cpu_seconds = 0;
  std::vector<double> waits;
  for (const auto* w = first; w != last; ++w) {
    add_worker(*w, with_work, profile, waits);
    periods awake = during(*w, activity::working);
    append(awake, during(*w, activity::searching));
    cpu_seconds += seconds_of(common(without(merged(std::move(awake)), w->without_cpu), with_work));
  }
  SUKIMA_ASSERT(profile.seconds_with_work <= profile.run.seconds() * (1 + 1e-9) + 1e-6,
                "work is done in the run");
  profile.thief_waits = summary_of(std::move(waits));
  if (profile.seconds_with_work > 0) profile.cpus = cpu_seconds / profile.seconds_with_work;
  SUKIMA_ASSERT(profile.cpus <= static_cast<double>(last - first) + 1e-6, "a worker uses at most one CPU");
  return profile;
}

}  // namespace

std::uint64_t worker_profile::all_steals() const {
  return std::accumulate(steals.begin(), steals.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

std::size_t runtime_profile::workers_seen() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      workers, [](const worker_profile& w) { return w.working + w.searching + w.sleeping > 0; }));
}

std::vector<runtime_profile> profiles_of(const recorded_trace& trace) {
  std::vector<runtime_profile> profiles;
  SUKIMA_ASSERT(std::ranges::is_sorted(trace.workers, {}, &recorded_worker::runtime),
                "workers are in the order of their runtimes");
  const recorded_worker* const end = trace.workers.data() + trace.workers.size();
  for (const recorded_worker* first = trace.workers.data(); first != end;) {
    const recorded_worker* last = first;
    while (last != end && last->runtime == first->runtime) ++last;
    runtime_profile profile = profile_of(first->runtime, first, last);
    for (const recorded_decision& d : trace.decisions)
      if (d.runtime == profile.runtime) profile.decisions.push_back(d);
    diagnose(profile);
    profiles.push_back(std::move(profile));
    first = last;
  }
  return profiles;
}

}  // namespace sukima::cli::explain
