// SPDX-License-Identifier: Apache-2.0
// Interleaved rounds; see session.hpp.
#include "session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "bench/catalogue.hpp"
#include "shared/shuffle.hpp"
#include "shared/statistics.hpp"

namespace sukima::cli::bench {
namespace {

/// The row with the reference result: that of the sequential program, or else the most frequent one.
const row* reference_row(const std::vector<row>& rows) {
  std::map<std::string, int> votes;
  const auto usable = [](const row& r) {
    return !r.failure && !r.samples.empty() && !r.samples.front().measured.result.empty();
  };
  for (const row& r : rows) {
    if (!usable(r)) continue;
    if (r.task.system == sequential_system) return &r;
    ++votes[r.samples.front().measured.result];
  }
  const row* most = nullptr;
  for (const row& r : rows) {
    if (!usable(r)) continue;
    if (most == nullptr ||
        votes[r.samples.front().measured.result] > votes[most->samples.front().measured.result]) {
      most = &r;
    }
  }
  return most;
}

double mean_seconds(const row& r) {
  double sum = 0;
  for (const sample& s : r.samples) sum += s.measured.seconds;
  return sum / static_cast<double>(r.samples.size());
}

/// Whether a row is a slow peer, whose repetitions would delay all others.
bool is_slow_peer(const row& r, const std::vector<row>& rows) {
  constexpr double slow_seconds = 2.0;
  constexpr double factor = 3.0;
  if (r.samples.empty() || !is_by_peer(r.task)) return false;
  const double mean = mean_seconds(r);
  return mean > slow_seconds && std::ranges::all_of(rows, [&](const row& other) {
           const bool sequential =
               other.task.system == sequential_system && other.task.scenario == r.task.scenario;
           return !sequential || other.samples.empty() || mean > factor * mean_seconds(other);
         });
}

/// Whether both are runs of the same program in the same scenario, with any numbers of workers.
bool differ_in_workers_only(const task& a, const task& b) {
  return std::tie(a.benchmark, a.system, a.compiler, a.scenario) ==
         std::tie(b.benchmark, b.system, b.compiler, b.scenario);
}

/// Whether the peer was stopped at its time limit with as many workers, or with fewer.
bool was_stopped(const row& r, const std::vector<row>& rows) {
  return std::ranges::any_of(rows, [&](const row& other) {
    return other.stopped_after && other.task.workers <= r.task.workers &&
           differ_in_workers_only(other.task, r.task);
  });
}

/// Reorders positions of tasks so that each program runs with fewer workers first. O(n squared).
void put_fewer_workers_first(std::vector<std::size_t>& order, const std::vector<task>& tasks) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const task& first = tasks[order[i]];
      const task& second = tasks[order[j]];
      if (differ_in_workers_only(first, second) && second.workers < first.workers)
        std::swap(order[i], order[j]);
    }
  }
}

}  // namespace

double median_seconds(const row& r) {
  std::vector<double> seconds;
  for (const sample& s : r.samples) seconds.push_back(s.measured.seconds);
  return lab::median_of(std::move(seconds));
}

std::vector<row> run_rounds(const std::vector<task>& tasks, const round_settings& settings,
                            const task_runner& run, const run_observer& observe) {
  std::vector<row> rows;
  rows.reserve(tasks.size());
  for (const task& t : tasks) rows.push_back({t, {}, std::nullopt, std::nullopt});
  std::vector<double> used(tasks.size(), 0);
  std::mt19937_64 generator(settings.seed);
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t done = 0;
  std::size_t total = tasks.size() * static_cast<std::size_t>(settings.repetitions);
  for (int round = 0; round < settings.repetitions; ++round) {
    lab::shuffle(order, generator);
    if (round == 0) put_fewer_workers_first(order, tasks);
    for (const std::size_t i : order) {
      row& r = rows[i];
      const bool time_is_up = settings.peer_seconds > 0 && used[i] >= settings.peer_seconds;
      if (r.failure || was_stopped(r, rows) || (time_is_up && is_slow_peer(r, rows))) {
        --total;
        continue;
      }
      observe(r.task, done, total);
      outcome o = run(r.task);
      ++done;
      if (auto* measured = std::get_if<measurement>(&o)) {
        used[i] += measured->seconds;
        r.samples.push_back({round, std::move(*measured)});
      } else if (const auto& failed = std::get<run_failure>(o); failed.stopped_after && is_by_peer(r.task)) {
        r.stopped_after = failed.stopped_after;
        r.samples.clear();  // the median of only the runs that ended would be wrong
      } else {
        r.failure = failed.reason;
      }
    }
  }
  return rows;
}

std::optional<std::size_t> choose_fastest(
    const std::vector<task>& candidates, const task_runner& run,
    const std::function<void(std::size_t, const run_failure&)>& failed) {
  // Only a short run is repeated; long runs vary less.
  constexpr double long_round = 4.0;
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> best(candidates.size(), never);
  std::vector<bool> broken(candidates.size(), false);
  double round_seconds = 0;
  bool hopeless = false;
  const auto try_one = [&](std::size_t i) {
    if (broken[i]) return;
    const outcome o = run(candidates[i]);
    if (const auto* measured = std::get_if<measurement>(&o)) {
      best[i] = std::min(best[i], measured->seconds);
      round_seconds += measured->seconds;
    } else {
      broken[i] = true;
      best[i] = never;
      const auto& failure = std::get<run_failure>(o);
      failed(i, failure);
      // Another compiler does not win back an order of magnitude.
      hopeless = i == 0 && failure.stopped_after && is_by_peer(candidates[i]);
    }
  };
  for (std::size_t i = 0; i < candidates.size() && !hopeless; ++i) try_one(i);
  if (hopeless) return std::nullopt;
  if (round_seconds < long_round) {
    for (std::size_t i = candidates.size(); i-- > 0;) try_one(i);
  }
  const auto fastest = std::ranges::min_element(best);
  if (fastest == best.end() || *fastest == never) return std::nullopt;
  return static_cast<std::size_t>(fastest - best.begin());
}

std::string note_on_stopped(const task& task, double seconds, bool more_left_out) {
  return fmt::format("{}: stopped after {:g} s{}", describe(task), seconds,
                     more_left_out ? "; not tried with more workers" : "");
}

std::vector<std::string> notes_on_stopped(const std::vector<row>& rows) {
  std::vector<std::string> notes;
  for (const row& r : rows) {
    if (!r.stopped_after) continue;
    const bool more = std::ranges::any_of(rows, [&](const row& other) {
      return differ_in_workers_only(other.task, r.task) && other.task.workers > r.task.workers &&
             other.samples.empty() && !other.failure && !other.stopped_after;
    });
    notes.push_back(note_on_stopped(r.task, *r.stopped_after, more));
  }
  return notes;
}

void check_results(std::vector<row>& rows) {
  const row* const found = reference_row(rows);
  if (found == nullptr) return;
  const std::string system = found->task.system;
  const measurement expected = found->samples.front().measured;
  for (row& r : rows) {
    if (r.failure) continue;
    for (const sample& s : r.samples) {
      const measurement& m = s.measured;
      if (m.size && expected.size && *m.size != *expected.size) {
        r.failure = fmt::format("ran size {}, but {} ran size {}", *m.size, system, *expected.size);
      } else if (!m.result.empty() && m.result != expected.result) {
        r.failure = fmt::format("has the result '{}', but {} has '{}'", m.result, system, expected.result);
      }
    }
  }
}

}  // namespace sukima::cli::bench
