// SPDX-License-Identifier: Apache-2.0
// A CPU of its own for each worker, while others compete for the CPUs.
#pragma once

#include <sched.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace sukima::detail {

struct runtime_core;
struct worker;

/// Keeps each worker on one CPU for as long as CPU is short and there is a worker for each CPU.
///
/// A kernel that balances load by weight puts two workers onto one CPU when a neighbour keeps the other one
/// busy, and moves them to and fro; there they share what the neighbour leaves. One on each gets more:
/// with two CPUs and one busy loop in a group of equal weight 1.25 to 1.33 CPUs in place of 1.0 to 1.1.
///
/// What makes staying harmless: a worker that sits on a busy CPU while another CPU is idle would lose, so the
/// worker that searches in vain for a few milliseconds lets all go again; so does the monitor when CPU is no
/// longer short, when threads enter or workers leave so that the numbers differ, or when one worker hardly
/// runs. Threads that enter get their own affinity back before they leave, unless they changed it meanwhile.
class cpu_spread {
 public:
  explicit cpu_spread(runtime_core& core) : core_(core) {}
  cpu_spread(const cpu_spread&) = delete;
  cpu_spread& operator=(const cpu_spread&) = delete;

  /// Called by the monitor only. \return true: each worker has a CPU of its own now, and had none before.
  bool hold();
  /// Gives all workers back the CPUs that they may use. From any thread. \return true: they were held.
  bool release() noexcept;
  /// Are workers held, though somebody entered, left or was added since? Called by the monitor only.
  bool is_outdated() noexcept;
  bool active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// A thread that was held leaves the runtime, or waits outside (blocking.hpp): its own affinity again. Its
  /// CPU is kept for it.
  void leave(worker& w) noexcept;
  /// The thread that is that worker now enters, or has waited: onto the CPU that was kept, if it may run
  /// where the one before might.
  void come_back(worker& w) noexcept;

  /// In the child of a fork() that a task has called: its thread may run where the one that called might.
  static void free_child() noexcept;

  /// What becomes of the caller's CPU.
  enum class giving {
    /// `runner` has it until its task ends, then it goes back to its own one. The caller sleeps meanwhile.
    until_done,
    /// `runner` keeps it, and the caller takes the other one.
    in_exchange,
  };
  /// The caller has nothing to do, or waits for what `runner` works on. If that worker could run and has no
  /// CPU, it moves onto the caller's: some microseconds, where the neighbour on its own CPU could keep it
  /// off for milliseconds. Both have `shares_cpu` set then, and call part(). \return true: it is there.
  bool give(worker& caller, worker& runner, giving how) noexcept;
  /// The calling worker goes on working, and shares a CPU after `until_done`: whoever of the two is the guest
  /// goes back to its own.
  void part(worker& w) noexcept;

 private:
  /// One thread and its CPU.
  struct place {
    worker* who;
    int thread;
    cpu_set_t before;
    int cpu;
    int now_on;  ///< the same, or the one that it was lent
    bool away;  ///< outside of the runtime
  };
  /// May that worker's thread run tasks now?
  bool runs(const worker& w) const noexcept;
  bool find_workers(std::vector<place>& found) const;
  static bool choose_cpus(std::vector<place>& places);
  static void free_thread(const place& p) noexcept;
  place* find(const worker& w) noexcept;
  /// Moves the calling thread, which is `w`, to where its place says. The lock is held before and afterwards.
  void follow(const worker& w, std::unique_lock<std::mutex>& lock) noexcept;

  runtime_core& core_;
  std::atomic<bool> active_{false};
  std::mutex changing_;
  std::vector<place> places_;  ///< empty: nobody is held. Guarded by changing_
};

}  // namespace sukima::detail
