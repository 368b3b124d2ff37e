// SPDX-License-Identifier: Apache-2.0
// A process that estimates our program's CPU ten times a second, and records the estimates.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include <sukima/capacity.h>

#include "truth/control_groups.hpp"

namespace sukima::truth {

/// The numbers of threads for which estimates are recorded.
inline constexpr std::array<int, 5> asked_threads{1, 2, 3, 4, 8};
inline constexpr std::uint64_t sampling_ns = 100'000'000;
inline constexpr int most_records = 128;

struct observation {
  std::uint64_t time_ns = 0;
  double now = 0;
  double now_short = 0;
  std::array<sukima_capacity_estimate, asked_threads.size()> usable{};
};

/// Records in shared memory. The observer writes a record before it increments the count (release). Readers
/// load the count first (acquire).
struct notebook {
  std::atomic<int> count{0};
  std::array<observation, most_records> records{};
  double cost = 0;            ///< CPU time of the estimator, per second
  double experiment_usable = 0;    ///< result of the experiment; 0 without one
  std::atomic<int> ready{0};  ///< 1 when it observes, -1 if it cannot
};

/// The groups that the observer sees.
enum class sight {
  all,           ///< the whole tree of groups
  own_group,     ///< a cgroup namespace with the program's group as its root, as in a container
  no_groups_file  ///< no control groups at all, as in some sandboxes
};

/// The beginning of an experiment and its number of threads; no experiment if `threads` is 0.
struct experiment_plan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  int threads = 0;
};

/// Starts an observer of the process `watched`. From `begin_ns` on, it takes a sample every sampling_ns until
/// it is ended. With sight::own_group it enters the group `group` to make its namespace, and then the root
/// group.
pid_t start_observer(notebook& book, const control_groups& groups, const std::string& group, sight seen,
                     pid_t watched, std::uint64_t begin_ns, const experiment_plan& experiment);

}  // namespace sukima::truth
