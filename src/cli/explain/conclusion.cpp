// SPDX-License-Identifier: Apache-2.0
// What a run lost its workers' time to, and what to try; see story.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "explain/story.hpp"

namespace sukima::cli::explain {
namespace {

/// Less than this share of the workers' time is not worth a word.
constexpr double least_loss = 0.001;
/// From this share on there is something to try.
constexpr double worth_trying = 0.05;
/// Workers wake up and begin to share in the first of these seconds.
constexpr double shortest_run = 5e-3;
/// Steals for less work than this cost more than they bring.
constexpr double short_work = 20e-6;

bool has_quota(const runtime_story& story) {
  return std::ranges::any_of(story.decisions, [](const recorded_decision& d) {
    return d.what == "workers" && d.reason.find("limit: quota") != std::string::npos;
  });
}

std::string reason_for_no_cpu(const runtime_story& story) {
  return has_quota(story) ? "workers had no CPU: the quota was used up, or others ran in their place"
                          : "workers had no CPU: others ran on this machine in their place";
}

double seconds_working(const runtime_story& story) {
  double all = 0;
  for (const worker_story& w : story.workers) all += w.working;
  return all;
}

std::uint64_t all_steals(const runtime_story& story) {
  std::uint64_t all = 0;
  for (const worker_story& w : story.workers) all += w.all_steals();
  return all;
}

void advise_on_cpu(runtime_story& story) {
  if (has_quota(story))
    story.advice.emplace_back(
        "A larger quota of the control group, or fewer other threads under the same quota, gives the workers "
        "more "
        "CPU.");
  story.advice.push_back(fmt::format(
      "{} used {:.3g} CPUs. If other programs ran, give this one CPUs of its own (taskset, a CPU set) "
      "or its group a larger weight; if there are fewer CPUs than workers, set SUKIMA_WORKERS to their "
      "number.",
      story.workers_seen() == 1 ? "The worker" : "The workers", story.cpus));
}

void advise_on_work(runtime_story& story) {
  const std::uint64_t steals = all_steals(story);
  const double working = seconds_working(story);
  if (steals == 0)
    story.advice.emplace_back(
        "Nothing was stolen: fork, or use a parallel loop, in the part that takes the time; code without "
        "either "
        "runs on one worker only.");
  else if (working / static_cast<double>(steals) < short_work)
    story.advice.push_back(
        fmt::format("A steal brought {} of work in the mean, hardly more than it costs: give parallel_for a "
                    "grain, or compute the smallest problems without forks.",
                    time_text(working / static_cast<double>(steals))));
  else if (!story.longest_without_work.empty())
    story.advice.push_back(fmt::format(
        "Look at what ran {} after the start, when worker {} was without work for {}: a long part "
        "there has no forks, or waits; let it fork, or put what waits into sukima::blocking.",
        time_text(story.longest_without_work.front().when.from - story.run.from),
        story.longest_without_work.front().worker,
        time_text(story.longest_without_work.front().when.seconds())));
}

}  // namespace

void conclude(runtime_story& story) {
  if (!(story.run.seconds() > 0)) {
    story.advice.emplace_back("The runtime was started and had no work: nothing to try.");
    return;
  }
  const double all = story.seconds_of_workers;
  const auto lost = [&](const char* kind, double seconds, std::string reason) {
    const double share = all > 0 ? seconds / all : 0;
    if (share >= least_loss) story.losses.push_back({kind, seconds, share, std::move(reason)});
    return share;
  };
  const double no_cpu = lost("no CPU", story.seconds_without_cpu, reason_for_no_cpu(story));
  const double no_work =
      lost("no work", story.seconds_without_work,
           fmt::format("nothing to steal (workers looked for work for {}, and slept otherwise)",
                       time_text(story.seconds_searching)));
  std::ranges::sort(story.losses, std::ranges::greater{}, &loss::seconds);
  if (story.run.seconds() < shortest_run) {
    story.advice.emplace_back("The run was too short to say what would make it faster: trace a longer one.");
    return;
  }
  if (no_cpu >= worth_trying) advise_on_cpu(story);
  if (no_work >= worth_trying) advise_on_work(story);
  if (story.workers_seen() < 2)
    story.advice.emplace_back(
        "Only one worker ran: SUKIMA_WORKERS, or a larger quota or CPU set, lets more of them run.");
  if (std::ranges::any_of(story.workers, &worker_story::is_full))
    story.advice.emplace_back("The trace is full, so the end of the run is missing: trace a shorter run.");
  if (story.advice.empty())
    story.advice.emplace_back("Nothing: the workers had CPU and work nearly all the time.");
}

}  // namespace sukima::cli::explain
