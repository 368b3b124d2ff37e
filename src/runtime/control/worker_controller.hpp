// SPDX-License-Identifier: Apache-2.0
// Decides how many workers run, and where. There are five parts, and a thread that drives them:
//
//   worker_controller       decides how many workers may run now, and which workers are surplus
//   cpu_shortage            detects whether the workers wait for CPUs that others use
//   worker_placement        pins each worker to a CPU of its own while CPU is short; lends CPUs
//   blocking_compensation   runs more workers while some wait outside the runtime
//   decision_log            records the decisions of the others, and the reasons
//   monitor                 the thread that samples the machine a few times a second
//
// A worker's *rank* is its number among those that may run: 0 for all threads that enter, 1, 2, … for the
// runtime's own. Workers with a rank of `target` or more are surplus: they hand over their fiber at the next
// poll and sleep at home until the target grows. The target is stored before a surplus worker's flag is set.
// The worker clears its flag before it reads the target. So neither a flag nor a wake-up is lost. Model:
// model/worker_controller.pml.
#pragma once

#include "control/capacity_handle.hpp"
#include "control/neighbours.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/settings.hpp>

#include <atomic>
#include <mutex>
#include <string_view>

namespace sukima::detail {

class rest_check;
class blocking_compensation;
class decision_log;
class lifetime;
class worker_table;
class worker_threads;
class worker_target;

class worker_controller {
 public:
  worker_controller(const settings& chosen, unsigned most_workers, worker_table& workers,
                    worker_threads& threads, worker_target& target, const lifetime& life,
                    const blocking_compensation& blocking, decision_log& decisions)
      : chosen_(chosen),
        worker_limit_(most_workers),
        workers_(workers),
        threads_(threads),
        target_(target),
        life_(life),
        blocking_(blocking),
        decisions_(decisions) {}
  ~worker_controller() = default;
  worker_controller(const worker_controller&) = delete;
  worker_controller& operator=(const worker_controller&) = delete;

  /// Decides on the first number of workers and starts their threads.
  /// \param opened  the capacity, if it has been read already; otherwise null
  /// \throws std::system_error
  void start(capacity_handle opened);
  /// Whether it follows the capacity of the machine, and so needs the monitor.
  bool follows_capacity() const noexcept { return capacity_ != nullptr; }

  /// Whether a quota is binding, so that busy-waiting workers use it up.
  bool quota_binds() const noexcept { return quota_binds_.load(std::memory_order_relaxed); }

  /// Sets the program's own limit on the number of workers; 0: no such limit.
  void limit_workers(unsigned most);
  /// Waits for a change that is under way. Must be called after lifetime::is_closed() has become true: later
  /// changes start no threads.
  void close() noexcept;
  /// Called when a worker waits: one more worker may run, unless there is a surplus worker. \returns false if
  /// no thread could be started for it
  bool compensate(const char* reason) noexcept;
  /// Returns how many background workers have a thread, those at home included.
  unsigned background_workers() noexcept;
  /// Called when that worker no longer waits.
  void end_compensation() noexcept;
  /// Called when the wanted number has changed. Brings the target to it at once.
  void reconsider(std::string_view reason) noexcept;
  /// The number of threads of other runtimes that compute and wait for no worker.
  unsigned threads_of_others() const noexcept;
  /// How many of these threads the target allows for: workers leave their CPUs to them.
  unsigned followed() const noexcept { return followed_.load(std::memory_order_seq_cst); }
  /// For the monitor: from now on the target allows for this number of threads. Has no effect if the target
  /// does not follow the capacity.
  /// \param least  this number of workers stays, if the target without these threads has as many
  void follow_others(unsigned threads, unsigned least) noexcept;
  /// Called when a thread enters from a parallel region. Until it leaves, threads_of_others() is 0.
  void enters_from_region() noexcept;
  void leaves_to_region() noexcept;
  /// For the monitor: reads the capacity and adapts the target. \return whether the capacity has changed
  bool look_at_capacity();

 private:
  friend class rest_check;
  /// Records whether a quota is binding. \return the number of workers that this capacity allows
  unsigned take(const sukima_capacity_facts& facts) noexcept;
  /// The target that follows from the capacity, the program's limit, other threads and blocked workers. \pre
  /// deciding_ is held
  unsigned wanted() const noexcept;
  /// Brings the target and the threads to the wanted number, as far as threads can be started. The next call
  /// tries again to start missing ones. \pre deciding_ is held
  void adjust(std::string_view reason) noexcept;

  const settings& chosen_;
  const unsigned worker_limit_;
  worker_table& workers_;
  worker_threads& threads_;
  worker_target& target_;
  const lifetime& life_;
  const blocking_compensation& blocking_;
  decision_log& decisions_;
  capacity_handle capacity_;
  neighbours neighbours_;  ///< closed unless the settings want them; used by the monitor only
  std::atomic<bool> quota_binds_{false};  ///< no partner: a hint
  /// pairs with: enters_from_region, leaves_to_region, threads_of_others
  atomic<unsigned> entries_from_regions_{0};
  /// Written by the monitor, under deciding_. pairs with: follow_others, followed
  atomic<unsigned> followed_{0};
  std::mutex deciding_;  ///< protects the target, the number of threads and the members below
  unsigned least_beside_ = 1;  ///< workers that stay beside threads of others. Written by the monitor only
  unsigned cpus_ = 1;  ///< CPUs that the process can use, however many workers the settings allow
  unsigned allowed_ = 1;  ///< workers by the capacity, without those that run instead of blocked ones
  unsigned limit_ = 0;  ///< the program's own limit; 0: none
  bool host_binds_ = false;  ///< whether the CPU that this machine's host advertises is the smallest limit
  bool decided_ = false;  ///< whether the first decision was made
  bool refused_ = false;  ///< whether the last thread that was wanted could not be started
};

}  // namespace sukima::detail
