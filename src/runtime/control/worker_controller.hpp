// SPDX-License-Identifier: Apache-2.0
// Control: how many workers run, and where. Five parts and a thread that drives them:
//
//   worker_controller       how many workers may run now, and which of them are surplus
//   cpu_shortage            whether the workers wait for CPUs that others use
//   worker_placement        pins each worker to a CPU of its own while CPU is short; lends CPUs
//   blocking_compensation   more workers while some wait outside the runtime
//   decision_log            what the others decided, and why
//   monitor                 the thread that samples the machine a few times a second
//
// A worker's *rank* is its number among those that may run: 0 for all threads that enter, 1, 2, … for the
// runtime's own. Workers with a rank of `target` or more are surplus: they hand their fiber on at the next
// poll and sleep at home until the target grows. The target is stored before a surplus worker's flag is
// set; the worker clears its flag before it reads the target. So neither a flag nor a wake-up is lost.
// Model: model/worker_controller.pml.
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

  /// Decides on the first number and starts so many threads.
  /// \param opened  where it has been read already; else null
  /// \throws std::system_error
  void start(capacity_handle opened);
  /// Whether it follows the capacity of the machine, and so needs the monitor.
  bool follows_capacity() const noexcept { return capacity_ != nullptr; }

  /// Whether busy-waiting workers use up a quota.
  bool quota_binds() const noexcept { return quota_binds_.load(std::memory_order_relaxed); }

  /// The program's own limit on the number of workers; 0: no such limit.
  void limit_workers(unsigned most);
  /// Waits for a change that is under way. To be called once lifetime::is_closed(): none starts a thread
  /// any more.
  void close() noexcept;
  /// A worker waits: one more may run, unless there is a surplus worker. \returns false: no thread could be
  /// started for it
  bool compensate(const char* reason) noexcept;
  /// Returns how many background workers have a thread, those at home included.
  unsigned background_workers() noexcept;
  /// That worker no longer waits.
  void end_compensation() noexcept;
  /// The number that is wanted has changed: brings the target to it at once.
  void reconsider(std::string_view reason) noexcept;
  /// The threads of other runtimes that compute and wait for no worker.
  unsigned threads_of_others() const noexcept;
  /// The number of them that the target allows for: workers leave them their CPUs.
  unsigned followed() const noexcept { return followed_.load(std::memory_order_seq_cst); }
  /// For the monitor: the target allows for so many from now on. Without effect where the target does not
  /// follow the capacity.
  /// \param least  so many workers stay, as far as the target without these threads has them
  void follow_others(unsigned threads, unsigned least) noexcept;
  /// A thread enters out of a parallel region. Until it leaves, threads_of_others() is 0.
  void enters_from_region() noexcept;
  void leaves_to_region() noexcept;
  /// For the monitor: reads the capacity and adapts the target. \return true: the capacity has changed
  bool look_at_capacity();

 private:
  friend class rest_check;
  /// Notes whether a quota binds. \return the workers that this capacity allows
  unsigned take(const sukima_capacity_facts& facts) noexcept;
  /// The target that follows from the capacity, the program's limit, other threads and blocked workers. Holds
  /// deciding_.
  unsigned wanted() const noexcept;
  /// Brings the target and the threads to the wanted number, as far as threads can be started. The next call
  /// tries again to start missing ones. Holds deciding_.
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
  neighbours neighbours_;  ///< closed unless the settings want them; only for the monitor
  std::atomic<bool> quota_binds_{false};  ///< no partner: a hint
  /// pairs with: enters_from_region, leaves_to_region, threads_of_others
  atomic<unsigned> entries_from_regions_{0};
  /// Written by the monitor, under deciding_. pairs with: follow_others, followed
  atomic<unsigned> followed_{0};
  std::mutex deciding_;  ///< the target, the threads' number and the rest
  unsigned least_beside_ = 1;  ///< workers that stay beside threads of others. Written by the monitor only
  unsigned cpus_ = 1;  ///< that the process can use, however many workers the settings allow
  unsigned allowed_ = 1;  ///< by the capacity, without those that run instead of blocked ones
  unsigned limit_ = 0;  ///< the program's own; 0: none
  bool host_binds_ = false;  ///< what the host of this virtual machine advertises is the least
  bool decided_ = false;  ///< once
  bool refused_ = false;  ///< the last thread that was wanted could not be started
};

}  // namespace sukima::detail
