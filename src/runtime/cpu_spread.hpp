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
  /// An entering thread that was held leaves: its own affinity again.
  void leave(worker& w) noexcept;

 private:
  /// One thread and its CPU.
  struct place {
    worker* who;
    int thread;
    cpu_set_t before;
    int cpu;
  };
  /// May that worker's thread run tasks now?
  bool runs(const worker& w) const noexcept;
  bool find_workers(std::vector<place>& found) const;
  static bool choose_cpus(std::vector<place>& places);
  static void free_thread(const place& p) noexcept;

  runtime_core& core_;
  std::atomic<bool> active_{false};
  std::mutex changing_;
  std::vector<place> places_;  ///< empty: nobody is held. Guarded by changing_
};

}  // namespace sukima::detail
