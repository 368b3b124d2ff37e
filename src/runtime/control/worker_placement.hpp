// SPDX-License-Identifier: Apache-2.0
// A CPU of its own for each worker, while others compete for the CPUs.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace sukima::detail {

struct runtime_core;
struct worker;

/// Pins each worker to one CPU for as long as CPU is short and there is a worker for each CPU.
///
/// A kernel that balances load by weight puts two workers onto one CPU when a neighbour keeps the other one
/// busy, and moves them to and fro; there they share what the neighbour leaves. One on each gets more: with
/// two CPUs and one busy loop in a group of equal weight 1.25 to 1.33 CPUs instead of 1.0 to 1.1.
///
/// A worker that stays on a busy CPU while another CPU is idle would lose. So a worker that finds no work for
/// some milliseconds unpins all. So does the monitor when CPU is no longer short, when threads enter or
/// workers leave so that the numbers differ, or when one worker hardly runs. Threads that enter get their own
/// affinity back before they leave, unless they have changed it since.
class worker_placement {
 public:
  explicit worker_placement(runtime_core& core);
  worker_placement(const worker_placement&) = delete;
  worker_placement& operator=(const worker_placement&) = delete;

  /// Whether the workers are pinned.
  bool is_active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// For the monitor: pins or unpins the workers, by whether CPU is short.
  void adapt();
  /// Lets all workers run again on the CPUs that they may use, if they are pinned. From any thread.
  void unpin_all(const char* reason) noexcept;
  /// A thread that was pinned leaves the runtime, or waits outside (blocking.hpp): its own affinity again.
  /// Its assigned CPU is kept for it.
  void unpin(worker& w) noexcept;
  /// The thread that is that worker now enters, or has waited: onto the CPU that was kept, if it may run
  /// where the thread before it might.
  void pin_again(worker& w) noexcept;

  /// What the calling thread could run on before it became a worker that stays on one CPU; nothing: it does
  /// not.
  static std::optional<cpu_set_t> affinity_before_pinning() noexcept;

  /// How the caller gives its CPU away.
  enum class lending {
    /// `runner` has it until its task ends, then it returns to its own. The caller sleeps until then.
    until_done,
    /// `runner` keeps it, and the caller takes the other one.
    in_exchange,
  };
  /// The caller has nothing to do, or waits for what `runner` works on. If that worker could run and has no
  /// CPU, it moves onto the caller's: some microseconds, where the neighbour on its own CPU could keep it
  /// off for milliseconds. Both have `shares_cpu` set then, and call return_lent(). \return true: it is
  /// there.
  bool lend(worker& caller, worker& runner, lending how) noexcept;
  /// The calling worker goes on working, and shares a CPU after `until_done`: whichever of the two is the
  /// guest returns to its own.
  void return_lent(worker& w) noexcept;

 private:
  /// In the child of a fork() that a task has called: its thread may run where the calling one might.
  static void unpin_after_fork() noexcept;
  /// One worker's thread and its CPU.
  struct assigned_cpu {
    worker* of;
    int thread;
    cpu_set_t before;
    int cpu;
    int now_on;  ///< the same, or a CPU that it was lent
    bool away;  ///< outside the runtime
  };
  /// \return true: each worker has a CPU of its own now, and had none before
  bool pin_all();
  /// \return true: they were pinned
  bool release_all() noexcept;
  /// Whether workers are pinned although a thread entered, left or was added since.
  bool is_outdated() noexcept;
  /// Whether that worker's thread may run tasks now.
  bool runs(const worker& w) const noexcept;
  std::uint64_t steals_so_far() const noexcept;
  bool find_workers(std::vector<assigned_cpu>& found) const;
  static bool choose_cpus(std::vector<assigned_cpu>& workers);
  static void unpin_thread(const assigned_cpu& a) noexcept;
  assigned_cpu* find(const worker& w) noexcept;
  /// Moves the calling thread, which is `w`, to its assigned CPU. The lock is held before and afterwards.
  void follow(const worker& w, std::unique_lock<std::mutex>& lock) noexcept;

  runtime_core& core_;
  std::atomic<bool> active_{false};  ///< no partner: a hint; what it announces is guarded by changing_
  std::mutex changing_;
  std::vector<assigned_cpu> assigned_;  ///< empty: no worker is pinned. Guarded by changing_
  // Only for the monitor.
  std::uint64_t steals_ = 0;  ///< of all workers, when adapt() looked last
  std::chrono::steady_clock::time_point not_before_{};  ///< no pinning: a worker starved on its CPU lately
};

}  // namespace sukima::detail
