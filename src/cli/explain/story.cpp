// SPDX-License-Identifier: Apache-2.0
// The figures of a story; see story.hpp. What follows from them: conclusion.cpp.
#include "explain/story.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sukima::cli::explain {
namespace {

constexpr std::size_t longest_shown = 3;

const periods& during(const recorded_worker& w, activity what) {
  return w.during[static_cast<std::size_t>(what)];
}

void append(periods& to, const periods& list) { to.insert(to.end(), list.begin(), list.end()); }

/// The longest of them, also the earliest of equal ones.
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

/// Adds a worker to the story.
/// \param with_work when any worker of the runtime was working
void tell(const recorded_worker& w, const periods& with_work, runtime_story& story) {
  const periods run{story.run};
  const periods no_cpu = common(w.without_cpu, run);
  const auto on_cpu = [&](activity what) { return without(common(during(w, what), run), no_cpu); };
  worker_story told;
  told.number = w.number;
  told.working = seconds_of(on_cpu(activity::working));
  told.searching = seconds_of(on_cpu(activity::searching));
  told.sleeping = seconds_of(on_cpu(activity::sleeping));
  told.without_cpu = seconds_of(no_cpu);
  const double there = told.working + told.searching + told.sleeping + told.without_cpu;
  told.outside = std::max(0.0, story.run.seconds() - there);
  told.steals = w.steals;
  told.parks = w.parks;
  told.suspensions = w.suspensions;
  told.is_full = w.is_full;
  add(story.longest_without_cpu, w.number, no_cpu);
  periods idle = during(w, activity::searching);
  append(idle, during(w, activity::sleeping));
  idle = common(merged(std::move(idle)), with_work);
  add(story.longest_without_work, w.number, idle);
  const double stalled = seconds_of(common(no_cpu, with_work));
  const double had_none = seconds_of(without(idle, no_cpu));
  const double searched = seconds_of(common(on_cpu(activity::searching), with_work));
  story.seconds_without_cpu += stalled;
  story.seconds_without_work += had_none;
  story.seconds_searching += searched;
  story.seconds_of_workers += told.working + had_none + stalled;
  story.workers.push_back(std::move(told));
}

runtime_story story_of(std::uint64_t runtime, const recorded_worker* first, const recorded_worker* last) {
  runtime_story story;
  story.runtime = runtime;
  periods with_work;
  for (const auto* w = first; w != last; ++w) append(with_work, during(*w, activity::working));
  with_work = merged(std::move(with_work));
  if (!with_work.empty()) story.run = {with_work.front().from, with_work.back().to};
  story.seconds_with_work = seconds_of(with_work);
  double cpu_seconds = 0;
  for (const auto* w = first; w != last; ++w) {
    tell(*w, with_work, story);
    periods awake = during(*w, activity::working);
    append(awake, during(*w, activity::searching));
    cpu_seconds += seconds_of(common(without(merged(std::move(awake)), w->without_cpu), with_work));
  }
  if (story.seconds_with_work > 0) story.cpus = cpu_seconds / story.seconds_with_work;
  return story;
}

}  // namespace

std::uint64_t worker_story::all_steals() const {
  return std::accumulate(steals.begin(), steals.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

std::size_t runtime_story::workers_seen() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      workers, [](const worker_story& w) { return w.working + w.searching + w.sleeping > 0; }));
}

std::vector<runtime_story> stories_of(const recorded_trace& trace) {
  std::vector<runtime_story> stories;
  const recorded_worker* const end = trace.workers.data() + trace.workers.size();
  for (const recorded_worker* first = trace.workers.data(); first != end;) {
    const recorded_worker* last = first;
    while (last != end && last->runtime == first->runtime) ++last;
    runtime_story story = story_of(first->runtime, first, last);
    for (const recorded_decision& d : trace.decisions)
      if (d.runtime == story.runtime) story.decisions.push_back(d);
    conclude(story);
    stories.push_back(std::move(story));
    first = last;
  }
  return stories;
}

}  // namespace sukima::cli::explain
