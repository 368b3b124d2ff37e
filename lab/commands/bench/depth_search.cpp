// SPDX-License-Identifier: Apache-2.0
// Tries cut-off depths; see depth_search.hpp.
#include "depth_search.hpp"

#include <algorithm>

namespace sukima::cli::bench {

std::optional<depth_choice> choose_depth(const task& tuned, const task_runner& run,
                                         const std::function<void(const task&, const run_failure&)>& failed) {
  // A search of the benchmarks has thousands of nodes after a few levels; deeper ones are no better.
  constexpr int most_depth = 32;
  constexpr int most_worse = 2;
  constexpr double cheap_seconds = 2.0;
  std::optional<depth_choice> best;
  int worse = 0;
  for (task t = tuned; worse < most_worse && t.depth.value_or(-1) < most_depth;) {
    t.depth = t.depth.value_or(-1) + 1;
    std::optional<double> seconds;
    for (int i = 0; i < 2 && (i == 0 || (seconds && *seconds < cheap_seconds)); ++i) {
      const outcome o = run(t);
      if (const auto* measured = std::get_if<measurement>(&o)) {
        seconds = std::min(seconds.value_or(measured->seconds), measured->seconds);
      } else if (const auto& failure = std::get<run_failure>(o); failure.stopped_after) {
        seconds.reset();
      } else {
        failed(t, failure);
        return std::nullopt;
      }
    }
    if (seconds && (!best || *seconds < best->seconds)) {
      best = depth_choice{*t.depth, *seconds};
      worse = 0;
    } else {
      ++worse;
    }
  }
  return best;
}

void choose_depths(contender& tuned, const std::set<int>& workers, bool one_compiler,
                   const std::function<task(const program&, int workers)>& task_of, const task_runner& run,
                   const std::function<void(const task&, const run_failure&)>& failed) {
  for (const int count : workers) {
    const program* fastest = nullptr;
    double least = 0;
    for (const program& by : tuned.programs) {
      const auto best = choose_depth(task_of(by, count), run, failed);
      if (!best) continue;
      tuned.depths[{by.file, count}] = best->depth;
      if (fastest != nullptr && best->seconds >= least) continue;
      fastest = &by;
      least = best->seconds;
    }
    if (one_compiler && fastest != nullptr && tuned.programs.size() > 1)
      tuned.programs = std::vector<program>{*fastest};
  }
}

}  // namespace sukima::cli::bench
