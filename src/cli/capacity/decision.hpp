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

/// The facts about the CPU.
struct cpu_supply {
  unsigned cap = 1;  ///< threads that may run at the same moment
  double limit = 1;  ///< CPUs that the limits allow, whatever the neighbours leave
  std::function<double(unsigned)> usable;  ///< CPUs that this number of always runnable threads gets
  std::string reason;  ///< one sentence: where the CPUs that `usable` says come from
  std::string limit_reason{};  ///< one sentence: where `limit` comes from
  std::string basis{};  ///< the basis of the estimate
  bool stolen = false;  ///< a hypervisor takes a part, which no thread of the program can see
};

struct start_decision {
  unsigned threads = 1;  ///< for runtimes whose threads sleep while they wait, or share out their work
  unsigned active = 1;  ///< for threads that wait actively for each other, in the program's own code
  unsigned slots = 1;  ///< for processes that do so, as MPI's ranks: by the limits alone
  bool fixed = false;  ///< the user gave the number
  bool restricted = false;  ///< the user's policy restricts the number
  bool spinning = true;  ///< CPU is plentiful, so idle threads may wait as their runtime wants
  bool limits_allow_spinning = true;  ///< the same by the limits alone, whatever the neighbours do now
  bool stolen = false;  ///< as in the supply
  double usable = 1;  ///< CPUs for `threads` threads
  std::string reason;
};

/// Decides.
///
/// `threads` is the ceiling of the limit, at most `cap`; the neighbours do not count. Beside neighbours each
/// thread gets a share of its own, so fewer threads get less; and the limits do not vary from run to run as
/// an estimate does, so neither does the number.
/// `active` is the largest k up to `threads` with usable(k) >= k - 0.5: that many lose least where a thread
/// that waits uses up its CPU. `slots` is the limit, rounded to the nearest number.
///
/// With a rounding all three are that of usable(cap), with a reserve the largest k with usable(k) >= k - 0.5,
/// where usable(k) is at most usable(cap) minus the reserve: the user asks for what the neighbours leave. At
/// least the minimum, at most the maximum (which wins if they contradict). Threads may wait actively only if
/// together they lack at most a quarter of a CPU.
start_decision decide(const thread_policy& policy, const cpu_supply& supply);

}  // namespace sukima::cli
