// SPDX-License-Identifier: Apache-2.0
// The reasons for lost worker time in a run, and advice; see run_profile.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "explain/run_profile.hpp"

namespace sukima::cli::explain {
namespace {

/// A smaller share of the workers' time is not reported.
constexpr double least_loss = 0.001;
/// The diagnosis gives advice for losses of at least this share.
constexpr double worth_trying = 0.05;
/// In shorter runs the start of the workers and the first steals dominate.
constexpr double shortest_run = 5e-3;
/// A steal of less work costs more than it saves.
constexpr double short_work = 20e-6;

bool has_quota(const runtime_profile& profile) {
  return std::ranges::any_of(profile.decisions, [](const recorded_decision& d) {
    return d.setting == "workers" && d.reason.find("limit: quota") != std::string::npos;
  });
}

std::string reason_for_no_cpu(const runtime_profile& profile) {
  return has_quota(profile)
             ? "workers had no CPU: the quota was used up, or other programs ran in their place"
             : "workers had no CPU: other programs ran in their place";
}

double seconds_working(const runtime_profile& profile) {
  double all = 0;
  for (const worker_profile& w : profile.workers) all += w.working;
  return all;
}

std::uint64_t all_steals(const runtime_profile& profile) {
  std::uint64_t all = 0;
  for (const worker_profile& w : profile.workers) all += w.all_steals();
  return all;
}

void advise_on_cpu(runtime_profile& profile) {
  if (has_quota(profile))
    profile.advice.emplace_back(
        "A larger quota of the control group, or fewer other threads under the same quota, gives the workers "
        "more CPU.");
  profile.advice.push_back(fmt::format(
      "{} used {:.3g} CPUs. If other programs ran, give this one CPUs of its own (taskset, a CPU set) "
      "or its group a larger weight; if there are fewer CPUs than workers, set SUKIMA_WORKERS to their "
      "number.",
      profile.workers_seen() == 1 ? "The worker" : "The workers", profile.cpus));
}

void advise_on_work(runtime_profile& profile) {
  const std::uint64_t steals = all_steals(profile);
  const double working = seconds_working(profile);
  if (steals == 0)
    profile.advice.emplace_back(
        "Nothing was stolen: fork, or use a parallel loop, in the part that takes the time; code without "
        "either runs on one worker only.");
  else if (working / static_cast<double>(steals) < short_work)
    profile.advice.push_back(
        fmt::format("A steal brought {} of work on average, hardly more than it costs: give parallel_for a "
                    "grain, or compute the smallest problems without forks.",
                    time_text(working / static_cast<double>(steals))));
  else if (!profile.longest_without_work.empty())
    profile.advice.push_back(fmt::format(
        "Look at what ran {} after the start, when worker {} was without work for {}: a long part "
        "there has no forks, or it waits; let it fork, or wait inside sukima::blocking.",
        time_text(profile.longest_without_work.front().when.from - profile.run.from),
        profile.longest_without_work.front().worker,
        time_text(profile.longest_without_work.front().when.seconds())));
}

}  // namespace

void diagnose(runtime_profile& profile) {
  if (!(profile.run.seconds() > 0)) {
    profile.advice.emplace_back("The runtime was started and had no work: nothing to try.");
    return;
  }
  const double all = profile.seconds_of_workers;
  const auto lost = [&](const char* kind, double seconds, std::string reason) {
    const double share = all > 0 ? seconds / all : 0;
    if (share >= least_loss) profile.losses.push_back({kind, seconds, share, std::move(reason)});
    return share;
  };
  const double no_cpu = lost("no CPU", profile.seconds_without_cpu, reason_for_no_cpu(profile));
  const double no_work = lost("no work", profile.seconds_without_work,
                              fmt::format("nothing to steal (workers searched for {}, and slept otherwise)",
                                          time_text(profile.seconds_searching)));
  std::ranges::sort(profile.losses, std::ranges::greater{}, &loss::seconds);
  if (profile.run.seconds() < shortest_run) {
    profile.advice.emplace_back("The run was too short for advice: trace a longer one.");
    return;
  }
  if (no_cpu >= worth_trying) advise_on_cpu(profile);
  if (no_work >= worth_trying) advise_on_work(profile);
  if (profile.workers_seen() < 2)
    profile.advice.emplace_back(
        "Only one worker ran: SUKIMA_WORKERS, or a larger quota or CPU set, lets more of them run.");
  if (std::ranges::any_of(profile.workers, &worker_profile::is_full))
    profile.advice.emplace_back("The trace is full, so it lacks the end of the run: trace a shorter one.");
  if (profile.advice.empty())
    profile.advice.emplace_back("Nothing: the workers had CPU and work nearly all the time.");
}

}  // namespace sukima::cli::explain
