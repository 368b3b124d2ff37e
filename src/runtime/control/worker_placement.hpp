// SPDX-License-Identifier: Apache-2.0
// Gives each worker a CPU of its own while other programs compete for the CPUs.
#pragma once

#include "park/cpu_use.hpp"

#include <sukima/settings.hpp>

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace sukima::detail {

class cpu_shortage;
class decision_log;
class parking;
class worker_target;
class worker_table;
struct worker;

/// Pins the calling thread to the CPU of its worker's rank, as the setting `pin=cpu` asks.
void pin_to_cpu_of_rank(worker& self) noexcept;

/// Pins each worker to one CPU while CPU is short and there is a worker for each CPU.
///
/// A kernel that balances load by weight puts two workers onto one CPU while a neighbour keeps the other one
/// busy, and moves them to and fro. On their CPU the workers share the time that the neighbour leaves. One
/// worker on each CPU gets more: 1.25 to 1.33 CPUs instead of 1.0 to 1.1, with two CPUs and one busy loop in
/// a group of equal weight.
///
/// A worker that stays on a busy CPU while another CPU is idle would lose time. So a worker that finds no
/// work for some milliseconds unpins all workers. The monitor does so, too, when CPU is no longer short, when
/// threads enter or workers leave so that the numbers differ, or when one worker hardly runs. Threads that
/// entered get their own affinity back before they leave, unless they have changed it since.
class worker_placement final : public assigned_cpus {
 public:
  worker_placement(const settings& chosen, const worker_table& workers, const worker_target& target,
                   parking& park, cpu_shortage& shortage, decision_log& decisions);

  /// For the monitor: pins or unpins the workers, depending on whether CPU is short.
  void adapt();
  void unpin_all(const char* reason) noexcept override;
  void unpin(worker& w) noexcept override;
  void pin_again(worker& w) noexcept override;
  bool lend(worker& caller, worker& runner, lending how) noexcept override;
  void return_lent(worker& w) noexcept override;
  std::optional<cpu_set_t> affinity_before_pinning(const worker& w) noexcept override;

 private:
  /// Called in the child of a fork() that a task has called. The child's thread may then run where the thread
  /// that forked might.
  static void unpin_after_fork() noexcept;
  /// One worker's thread and its CPU.
  struct assigned_cpu {
    worker* of;
    int thread;
    cpu_set_t before;
    int cpu;
    int now_on;  ///< the same, or a CPU that was lent to it
    bool away;  ///< whether it is outside the runtime
  };
  /// \return true: each worker now has a CPU of its own, and had none before
  bool pin_all();
  /// \return true: the workers were pinned
  bool release_all() noexcept;
  /// Whether workers are pinned although a thread has since entered, left or been added.
  bool is_outdated() noexcept;
  /// Whether that worker's thread may run tasks now.
  bool runs(const worker& w) const noexcept;
  std::uint64_t steals_so_far() const noexcept;
  bool find_workers(std::vector<assigned_cpu>& found) const;
  static bool choose_cpus(std::vector<assigned_cpu>& workers);
  static void unpin_thread(const assigned_cpu& a) noexcept;
  assigned_cpu* find(const worker& w) noexcept;
  /// Moves the calling thread, which is worker `w`, to its assigned CPU. The lock is held before and
  /// afterwards.
  void follow(const worker& w, std::unique_lock<std::mutex>& lock) noexcept;

  const settings& chosen_;
  const worker_table& workers_;
  const worker_target& target_;
  parking& park_;
  cpu_shortage& shortage_;
  decision_log& decisions_;
  std::mutex changing_;
  std::vector<assigned_cpu> assigned_;  ///< empty: no worker is pinned. Guarded by changing_
  // Used by the monitor only.
  std::uint64_t steals_ = 0;  ///< of all workers, at the last call of adapt()
  std::chrono::steady_clock::time_point not_before_{};  ///< no pinning before this: a worker starved lately
};

}  // namespace sukima::detail
