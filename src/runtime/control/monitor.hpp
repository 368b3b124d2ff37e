// SPDX-License-Identifier: Apache-2.0
// The thread that looks at the machine for the worker controller, the CPU shortage and the worker placement.
#pragma once

#include "control/monitor_pace.hpp"

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

/// Samples a few times a second while a thread is inside the runtime, or waits outside for a future. A sample
/// that finds none is the last one: the thread dozes until the next entry or wait wakes it.
class monitor {
 public:
  monitor(const settings& chosen, const parking& park, const blocking_compensation& blocking,
          worker_controller& controller, cpu_shortage& shortage, worker_placement& placement,
          placement_hints& hints)
      : chosen_(chosen),
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
  /// Ends the thread, if there is one.
  void stop();
  /// In a child process after fork(), where the thread does not exist.
  void forget_thread();
  /// Called at each entry and at each wait of a thread outside, after it was counted: the monitor works only
  /// while a thread is inside or waits.
  void entry_begins() noexcept {
    // The other way round, doze() stores `true` and then reads the counts once more.
    if (dozing_.load(std::memory_order_seq_cst)) wake();
  }

 private:
  using clock = std::chrono::steady_clock;

  void run();
  bool is_needed() const noexcept;
  void sleep_until_next_look(std::uint32_t seen) noexcept;
  void doze(std::uint32_t seen) noexcept;
  void look();
  void wake() noexcept;

  const settings& chosen_;
  const parking& park_;
  const blocking_compensation& blocking_;
  worker_controller& controller_;
  cpu_shortage& shortage_;
  worker_placement& placement_;
  placement_hints& hints_;
  std::atomic<bool> dozing_{false};  ///< pairs with: doze, entry_begins
  std::atomic<bool> ending_{false};  ///< pairs with: stop, run, doze
  std::atomic<std::uint32_t> alarm_{0};  ///< Futex of the thread. pairs with: wake, run
  std::once_flag started_;
  std::thread thread_;
  // Only for the thread.
  monitor_pace pace_;
  clock::time_point judged_at_{};
};

}  // namespace sukima::detail
