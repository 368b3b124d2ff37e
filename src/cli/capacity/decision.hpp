// SPDX-License-Identifier: Apache-2.0
// How many threads a program gets at its start, and how they wait: only the rules; the numbers come from
// the caller.
#pragma once

#include <sukima/capacity.h>

#include <functional>
#include <optional>
#include <string>

namespace sukima::cli {

/// The user's policy.
struct thread_policy {
  std::optional<sukima_capacity_rounding> rounding;  ///< nothing: the rule of start_decision
  unsigned minimum = 1;
  std::optional<unsigned> maximum;
  double reserve = 0;  ///< CPUs that are left to others
  std::optional<unsigned> threads;  ///< the number itself; nothing else counts then
};

/// What is known about the CPU.
struct cpu_supply {
  unsigned cap = 1;  ///< threads that may run at the same moment
  double limit = 1;  ///< CPUs that the limits allow, whatever the neighbours leave
  std::function<double(unsigned)> usable;  ///< CPUs that so many always runnable threads get
  std::string reason;  ///< one sentence: where the number comes from
  std::string basis{};  ///< what the estimate rests on
  bool stolen = false;  ///< a hypervisor takes a part, which no thread of the program can see
};

struct start_decision {
  unsigned threads = 1;
  unsigned team = 1;  ///< for regions whose threads sleep while they wait for each other
  bool fixed = false;  ///< the user gave the number
  bool spinning = true;  ///< CPU is plentiful, so idle threads may wait as their runtime wants
  bool stolen = false;  ///< as in the supply
  double usable = 1;  ///< CPUs for `threads` threads
  std::string reason;
};

/// Decides. Without a rounding: the largest k up to `cap` with usable(k) >= k - 0.5, where usable(k) is at
/// most usable(cap) minus the reserve; that many threads lose least beside neighbours and under quotas, also
/// if they wait actively. With a rounding: that of usable(cap). At least the minimum, at most the maximum
/// (which wins if they contradict). Threads may wait actively only if together they lack at most a quarter
/// of a CPU. The team is the smallest number that gets 95 % of what all CPUs together get: a thread that
/// sleeps at a barrier costs the others nothing, and gets a share of its own from the neighbours. Where the
/// user has rounded or reserved, the team is the number of threads.
start_decision decide(const thread_policy& policy, const cpu_supply& supply);

}  // namespace sukima::cli
