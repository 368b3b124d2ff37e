// SPDX-License-Identifier: Apache-2.0
// The profile of a traced run: the figures of each worker, the lost time, and advice.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "explain/trace_file.hpp"

namespace sukima::cli::explain {

/// A worker's time in the run, in seconds. The five figures add up to the length of the run.
struct worker_profile {
  std::uint64_t number = 0;
  double working = 0;
  double searching = 0;
  double sleeping = 0;
  double without_cpu = 0;  ///< counts only here, not as working, searching or sleeping
  double outside = 0;      ///< in the caller's code, or a surplus worker
  std::map<std::uint64_t, std::uint64_t> steals;  ///< number of steals by the victim's number
  std::uint64_t parks = 0;
  std::uint64_t suspensions = 0;
  bool is_full = false;  ///< the trace had no room for its later events

  std::uint64_t all_steals() const;
};

/// A long period of one worker.
struct long_period {
  std::uint64_t worker = 0;
  period when;
};

/// The waits of thieves. The wait of a steal is the time from the moment when the worker became idle until it
/// took the task, without the time in which no worker had work. A percentile is the smallest wait that this
/// share of waits does not exceed.
struct wait_summary {
  std::size_t count = 0;  ///< steals
  double median = 0;  ///< seconds, as the next two
  double p99 = 0;
  double longest = 0;
};

/// Time of the workers that was lost for one reason.
struct loss {
  std::string kind;  ///< "no CPU" or "no work"
  double seconds = 0;  ///< of all workers together
  double share = 0;  ///< share of the time in which the workers existed
  std::string reason;
};

/// The profile of one runtime. Its run lasts from the first moment with work until the last.
struct runtime_profile {
  std::uint64_t runtime = 0;
  period run;
  double seconds_with_work = 0;  ///< time in which some worker was working
  double cpus = 0;  ///< average number that the workers used while there was work
  // Of all workers together, while there was work:
  double seconds_of_workers = 0;  ///< without the time outside
  double seconds_without_cpu = 0;
  double seconds_without_work = 0;
  double seconds_searching = 0;  ///< the part of seconds_without_work in which they did not sleep
  std::vector<worker_profile> workers;  ///< in order of their numbers, including workers that never worked
  std::vector<recorded_decision> decisions;  ///< in order of time
  wait_summary thief_waits;
  std::vector<long_period> longest_without_cpu;  ///< the longest first
  std::vector<long_period> longest_without_work;  ///< while other workers had work; the longest first
  std::vector<loss> losses;  ///< the largest first
  std::vector<std::string> advice;  ///< sentences with suggestions; at least one

  /// Number of workers that existed at any time.
  std::size_t workers_seen() const;
};

/// The profiles of all runtimes in a trace, in their order.
std::vector<runtime_profile> profiles_of(const recorded_trace& trace);

/// Adds the losses and the advice to a profile whose other members are set.
void diagnose(runtime_profile& profile);

/// Returns the profiles as text of several lines; the last line ends with a line feed.
std::string text_of(const std::vector<runtime_profile>& profiles);

/// The same as a list.
nlohmann::json json_of(const std::vector<runtime_profile>& profiles);

/// Returns the places of sequential clones as text of several lines: how often they ran, and why they were
/// left. Empty if the trace says nothing about clones.
std::string text_of(const std::map<std::string, recorded_clones>& clones);

/// The same as a list.
nlohmann::json json_of(const std::map<std::string, recorded_clones>& clones);

/// Wraps a sentence into lines of at most 100 characters, each with two blanks before it.
std::string in_lines(std::string_view sentence);

/// Returns a time with three digits: "1.23 s", "45.6 ms", "7 µs".
std::string time_text(double seconds);

}  // namespace sukima::cli::explain
