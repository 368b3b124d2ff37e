// SPDX-License-Identifier: Apache-2.0
// The number of threads that a program gets at its start, and how they wait. This file has only the rules;
// the caller supplies the measurements.
#pragma once

#include <sukima/capacity.h>

#include <functional>
#include <optional>
#include <string>

namespace sukima::cli {

/// The user's policy.
struct thread_policy {
  std::optional<sukima_capacity_rounding> rounding;  ///< nothing: the default rule of decide()
  unsigned minimum = 1;
  std::optional<unsigned> maximum;
  double reserve = 0;  ///< CPUs that are left to others
  std::optional<unsigned> threads;  ///< the number itself; if set, the other members have no effect
};

/// The facts about the CPU.
struct cpu_supply {
  unsigned cap = 1;  ///< the largest number of threads that can run at the same moment
  double limit = 1;  ///< CPUs that the limits allow, whatever the neighbours leave
  std::function<double(unsigned)> usable;  ///< CPUs that this number of always runnable threads gets
  std::string reason;  ///< one sentence: the source of the CPUs that `usable` returns
  std::string limit_reason{};  ///< one sentence: the source of `limit`
  std::string basis{};  ///< the basis of the estimate
  bool stolen = false;  ///< a hypervisor takes a part of the CPU, which the program's threads cannot see
};

struct start_decision {
  unsigned threads = 1;  ///< for runtimes whose threads sleep while they wait, or share their work
  unsigned active = 1;  ///< for threads that wait actively for one another, in the program's own code
  unsigned slots = 1;  ///< for processes that wait actively, such as MPI's ranks: by the limits alone
  bool fixed = false;  ///< the user gave the number
  bool restricted = false;  ///< the user's policy restricts the number
  bool spinning = true;  ///< CPU is plentiful, so idle threads may wait as their runtime prefers
  bool limits_allow_spinning = true;  ///< the same by the limits alone, without the present neighbours
  bool stolen = false;  ///< as in cpu_supply
  double usable = 1;  ///< CPUs for `threads` threads
  std::string reason;
};

/// Decides the numbers of threads and how idle threads wait.
///
/// `threads` is the limit, rounded up, and at most `cap`. Neighbours do not reduce it, for two reasons.
/// Beside neighbours each thread gets its own share of the CPU, so fewer threads get less. And the limits do
/// not vary from run to run as an estimate does, so the number does not vary either. `active` is the largest
/// k up to `threads` with usable(k) >= k - 0.5: if waiting threads use up their CPUs, this number loses
/// least. `slots` is the limit, rounded to the nearest number.
///
/// If the user gives a rounding, all three numbers are usable(cap) rounded that way. If the user gives only a
/// reserve, all three are the largest k with usable(k) >= k - 0.5, where usable(k) counts as at most
/// usable(cap) minus the reserve. Both rules apply to the CPU that the neighbours leave. Each number is at
/// least the minimum and at most the maximum; the maximum wins if they contradict. Threads may wait actively
/// only if together they lack at most a quarter of a CPU.
start_decision decide(const thread_policy& policy, const cpu_supply& supply);

}  // namespace sukima::cli
