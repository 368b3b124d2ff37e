// SPDX-License-Identifier: Apache-2.0
// What waiting workers need to know about the CPUs. The layer `control` implements these interfaces.
#pragma once

#include <sched.h>

#include <atomic>
#include <optional>

namespace sukima::detail {

struct worker;

/// Whether CPU is short: the workers wait for CPUs that others use (control/cpu_shortage.hpp).
class cpu_pressure {
 public:
  cpu_pressure() = default;
  cpu_pressure(const cpu_pressure&) = delete;
  cpu_pressure& operator=(const cpu_pressure&) = delete;

  /// Whether the workers recently had no CPU in a tenth of the time in which they were ready to run.
  bool is_short() const noexcept { return short_.load(std::memory_order_relaxed); }
  /// Whether an idle worker loses more by sleeping than by using up its time slice. That is the case if other
  /// threads compete for its CPU, and there is no quota that it would use up.
  virtual bool spinning_keeps_turn() const noexcept = 0;

 protected:
  ~cpu_pressure() = default;
  std::atomic<bool> short_{false};  ///< no partner: a hint
};

/// How a worker gives its CPU away.
enum class lending {
  /// The other worker uses the CPU until its task ends, then returns to its own CPU. The caller sleeps until
  /// then.
  until_done,
  /// The other worker keeps the CPU, and the caller takes the other worker's CPU.
  in_exchange,
};

/// A CPU of its own for each worker, while others compete for the CPUs (control/worker_placement.hpp).
class assigned_cpus {
 public:
  assigned_cpus() = default;
  assigned_cpus(const assigned_cpus&) = delete;
  assigned_cpus& operator=(const assigned_cpus&) = delete;

  /// Whether the workers are pinned.
  bool is_active() const noexcept { return active_.load(std::memory_order_relaxed); }
  /// Unpins all workers: they may run again on all CPUs that they may use. From any thread.
  virtual void unpin_all(const char* reason) noexcept = 0;
  /// Restores the affinity of a thread that leaves the runtime, or waits outside (blocking.hpp). Its assigned
  /// CPU is kept for it.
  virtual void unpin(worker& w) noexcept = 0;
  /// Pins the thread that is now that worker, when it enters or has waited outside: to the CPU that was kept,
  /// if its affinity equals that of the thread before it.
  virtual void pin_again(worker& w) noexcept = 0;
  /// The caller has nothing to do, or waits for the task of `runner`. If that worker is ready to run and has
  /// no CPU, it moves to the caller's CPU. That takes some microseconds, and the neighbour on its own CPU
  /// could delay it for milliseconds. Both workers then have `shares_cpu` set, and must call return_lent().
  /// \return true: it has moved
  virtual bool lend(worker& caller, worker& runner, lending how) noexcept = 0;
  /// Called when the calling worker continues to work while it shares a CPU after `until_done`. The one of
  /// the two workers that is on the other's CPU returns to its own.
  virtual void return_lent(worker& w) noexcept = 0;
  /// The CPUs on which the calling thread, which is that worker, could run before it was pinned; empty: it is
  /// not pinned.
  virtual std::optional<cpu_set_t> affinity_before_pinning(const worker& w) noexcept = 0;

 protected:
  ~assigned_cpus() = default;
  std::atomic<bool> active_{false};  ///< no partner: a hint; what it announces is under a lock
};

}  // namespace sukima::detail
