// SPDX-License-Identifier: Apache-2.0
// The thread that samples the machine for the worker controller, the CPU shortage and the worker placement.
#pragma once

#include "control/lasting_threads.hpp"
#include "control/monitor_pace.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/settings.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

namespace sukima::detail {

class blocking_compensation;
class cpu_shortage;
class parking;
class placement_hints;
class worker_controller;
class worker_placement;
class worker_table;
struct worker;

/// Samples a few times a second while a thread is inside the runtime, or waits outside for a future. After a
/// sample that finds no such thread, the monitor dozes until the next entry or wait wakes it.
///
/// While threads of other runtimes compute as well (control/threads_beside.hpp), it samples their number more
/// often. Workers leave their CPUs to such threads once these have computed for `tuning::beside_sample_ns`.
/// Shorter regions change nothing, because they would end before the workers have left. Workers come back at
/// once.
///
/// Everything that an entry may have to attend to is in one word, `attention_`, so that an entry reads
/// nothing else:
///   dozing    the monitor must be woken
///   beside    threads of others compute, or the target still allows for some that did
///   watching  the monitor watches these threads, and need not be woken for more of them
///   unused    no thread has entered since the last call of was_used()
/// Other threads change the counts (entries, threads of others) first and read the word then. The monitor
/// changes the word first and reads the counts then. All are sequentially consistent, so one sees the other.
/// Only the monitor clears `beside`, and sets it again where it then finds threads of others.
class monitor {
 public:
  monitor(const settings& chosen, const worker_table& workers, const parking& park,
          const blocking_compensation& blocking, worker_controller& controller, cpu_shortage& shortage,
          worker_placement& placement, placement_hints& hints)
      : chosen_(chosen),
        workers_(workers),
        park_(park),
        blocking_(blocking),
        controller_(controller),
        shortage_(shortage),
        placement_(placement),
        hints_(hints) {}
  monitor(const monitor&) = delete;
  monitor& operator=(const monitor&) = delete;

  /// Starts the thread, unless it was started before. Any thread may call it, inside an entry.
  void start();
  /// From now on receives the changes of the number of other runtimes' threads. Called once, before the first
  /// entry.
  void listen_to_others() noexcept;
  /// Ends the thread, if there is one. Receives no changes any more.
  void stop();
  /// Called in a child process after fork(), where the thread does not exist.
  void forget_thread();
  /// Called at each entry, after it was counted: the monitor works only while a thread is inside or waits.
  /// The worker has `duty_region` afterwards if the thread comes out of a parallel region.
  void entry_begins(worker& entered) noexcept {
    if (wants_attention()) [[unlikely]]
      attend_entry(entered);
  }
  /// Whether an entry that does nothing but run its root must be counted: if threads of others compute,
  /// because such an entry changes their number, or if was_used() must notice the entry. While the monitor
  /// dozes, the entry need not be counted, and does not wake the monitor.
  bool has_to_count_entries() const noexcept {
    return (attention_.load(std::memory_order_relaxed) & (beside | unused)) != 0;  // a hint
  }
  /// Called when the worker with `duty_region` leaves, after its entry is no longer counted.
  void entry_ended(worker& left) noexcept;
  /// Called by a thread outside that waits for this runtime, before the wait is counted.
  /// \return true: it comes out of a parallel region; returns_to_region() must follow
  bool wait_comes_from_region() noexcept { return wants_attention() && comes_from_region(); }
  /// Called when a wait or an entry from a parallel region has ended.
  void returns_to_region() noexcept;
  /// Called at each wait of a thread outside, after it was counted.
  void wait_begins() noexcept {
    if (wants_attention()) attend();
  }

  /// Called when more threads of other runtimes compute, after they were counted.
  void others_begin() noexcept;
  /// Called when fewer threads compute. \param left  how many are still counted
  void others_end(unsigned left) noexcept;
  /// Whether a thread has entered since the last call, or is inside. It may miss an unannounced entry that
  /// was active at the time of the last call. Linear in the number of workers, if no entry is counted.
  bool was_used() noexcept;

 private:
  using clock = std::chrono::steady_clock;

  static constexpr unsigned dozing = 1;
  static constexpr unsigned beside = 2;
  static constexpr unsigned watching = 4;
  static constexpr unsigned unused = 8;

  bool wants_attention() const noexcept {
    return (attention_.load(std::memory_order_seq_cst) & (dozing | beside | unused)) != 0;
  }
  void attend_entry(worker& entered) noexcept;
  bool comes_from_region() noexcept;
  void attend() noexcept;
  void wake_if_late() noexcept;
  bool has_others() const noexcept;
  bool watch_others() noexcept;

  void run();
  bool is_needed() const noexcept;
  bool sleep_until_next_sample(std::uint32_t seen, bool watches) noexcept;
  void doze(std::uint32_t seen) noexcept;
  void sample();
  void wake() noexcept;

  const settings& chosen_;
  const worker_table& workers_;
  const parking& park_;
  const blocking_compensation& blocking_;
  worker_controller& controller_;
  cpu_shortage& shortage_;
  worker_placement& placement_;
  placement_hints& hints_;
  /// pairs with: wants_attention; attend, wake_if_late, others_begin, was_used, watch_others, doze
  atomic<unsigned> attention_{unused};
  lasting_threads lasting_;  ///< threads of others
  atomic<bool> ending_{false};  ///< pairs with: stop, run, doze
  atomic<uint32_t> alarm_{0};  ///< Futex of the thread. pairs with: wake, run
  std::once_flag started_;
  std::thread thread_;
  // Used by the thread only.
  monitor_pace pace_;
  clock::time_point judged_at_{};
  clock::time_point sampled_at_{};  ///< or dozed at that time
};

}  // namespace sukima::detail
