// SPDX-License-Identifier: Apache-2.0
// What the layers above know of the CPUs, as far as waiting workers need it: control implements these.
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

  /// Whether the workers lately waited for a CPU for a tenth of the time that they wanted one.
  bool is_short() const noexcept { return short_.load(std::memory_order_relaxed); }
  /// Whether an idle worker loses more by sleeping than by using up its turn. So it is where others compete
  /// for its CPU, but no quota is used up.
  virtual bool spinning_keeps_turn() const noexcept = 0;

 protected:
  ~cpu_pressure() = default;
  std::atomic<bool> short_{false};  ///< no partner: a hint
};

/// How a worker gives its CPU away.
enum class lending {
  /// The other one has it until its task ends, then it returns to its own. The caller sleeps until then.
  until_done,
  /// The other one keeps it, and the caller takes the other CPU.
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
  /// Lets all workers run again on the CPUs that they may use, if they are pinned. From any thread.
  virtual void unpin_all(const char* reason) noexcept = 0;
  /// A thread that was pinned leaves the runtime, or waits outside (blocking.hpp): its own affinity again.
  /// Its assigned CPU is kept for it.
  virtual void unpin(worker& w) noexcept = 0;
  /// The thread that is that worker now enters, or has waited: onto the CPU that was kept, if it may run
  /// where the thread before it might.
  virtual void pin_again(worker& w) noexcept = 0;
  /// The caller has nothing to do, or waits for what `runner` works on. If that worker could run and has no
  /// CPU, it moves onto the caller's: some microseconds, where the neighbour on its own CPU could keep it
  /// off for milliseconds. Both have `shares_cpu` set then, and call return_lent(). \return true: it is
  /// there.
  virtual bool lend(worker& caller, worker& runner, lending how) noexcept = 0;
  /// The calling worker goes on working, and shares a CPU after `until_done`: whichever of the two is the
  /// guest returns to its own.
  virtual void return_lent(worker& w) noexcept = 0;
  /// What the calling thread, which is that worker, could run on before it stayed on one CPU; nothing: it
  /// does not.
  virtual std::optional<cpu_set_t> affinity_before_pinning(const worker& w) noexcept = 0;

 protected:
  ~assigned_cpus() = default;
  std::atomic<bool> active_{false};  ///< no partner: a hint; what it announces is under a lock
};

}  // namespace sukima::detail
