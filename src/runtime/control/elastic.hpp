// SPDX-License-Identifier: Apache-2.0
// How many background workers may run now: never more than there is CPU for.
#pragma once

#include "control/neighbours.hpp"

#include <sukima/runtime.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct sukima_capacity;
struct sukima_capacity_facts;

namespace sukima::detail {

struct runtime_core;

/// Adapts the number of a runtime's workers to the CPU that there is, and choice points each decision.
///
/// A worker's *rank* is its number among those that may run: 0 for all threads that enter, 1, 2, … for the
/// runtime's own. Those with a rank of `target` or more are surplus: they hand their fiber on at the next
/// poll and sleep at home until the target grows. A monitor thread looks at the facts (affinity, cpusets,
/// quotas) and at the run-queue delay of the workers a few times a second while somebody is inside of the
/// runtime, and sleeps otherwise.
class elastic {
 public:
  explicit elastic(runtime_core& core) : core_(core) {}
  ~elastic();
  elastic(const elastic&) = delete;
  elastic& operator=(const elastic&) = delete;

  /// Decides on the first number and starts so many threads, and the monitor if it has anything to decide.
  void start();
  /// Ends the monitor. The workers are the runtime's to end.
  void stop();
  /// In a child process after fork(): none of the threads exists here.
  void abandon();

  /// Is a background worker of this rank one too many? Read again after its flag was cleared (entry.cpp).
  bool is_surplus(unsigned rank) const noexcept { return rank >= target_.load(); }
  unsigned target() const noexcept { return target_.load(std::memory_order_relaxed); }
  /// Did the workers lately wait for a CPU for a tenth of the time that they wanted one?
  bool cpu_is_short() const noexcept { return short_.load(std::memory_order_relaxed); }
  /// Does a worker that has nothing to do for a moment lose more by sleeping than by using up its turn? So
  /// it is where others compete for its CPU, but no quota is used up.
  bool keeps_turns() const noexcept;

  /// Lets workers that stay on one CPU each move again, if there are any. From any thread.
  void release_spread(const char* reason) noexcept;

  /// Called at each entry: the monitor works only while somebody is inside.
  void entry_begins() noexcept {
    // Partner: the monitor, which stores `true` and then reads the census once more.
    if (dozing_.load()) wake();
  }

  /// A worker waits outside from now on; another one may run in its place.
  void blocking_begins();
  void blocking_ends() noexcept;

  /// At most so many workers from now on, by the program's own wish; 0: no such limit.
  void limit_workers(unsigned most);

  /// What was decided so far, the oldest first.
  std::vector<decision> decisions() const;

 private:
  void monitor();
  void look_at_facts();
  /// Notes whether a quota binds. \return the workers that the facts allow
  unsigned take(const sukima_capacity_facts& facts) noexcept;
  void look_at_delays();
  void wake() noexcept;
  /// What the facts, the program's limit and blocked workers make of it. Holds deciding_.
  unsigned wanted() const noexcept;
  /// Brings the workers' number to what the facts, the program's limit and blocked workers make it.
  void adjust(const std::string& reason);
  void record(const char* what, unsigned before, unsigned after, const std::string& reason);
  /// Decides whether each worker stays on a CPU of its own.
  void spread_workers();
  std::uint64_t steals_so_far() const noexcept;
  /// Decides whether CPU is short, from how long the workers ran and waited for a CPU since the last sample.
  void judge(std::uint64_t ran_ns, std::uint64_t waited_ns);

  /// What the kernel said of one worker's thread at the last sample.
  struct delay {
    int thread = 0;  ///< 0: unknown
    std::uint64_t ran_ns = 0;
    std::uint64_t waited_ns = 0;
    std::uint64_t in_vain_ns = 0;  ///< waited since it last got a tenth of the CPU that it wanted
  };

  runtime_core& core_;
  sukima_capacity* capacity_ = nullptr;
  neighbours neighbours_;  ///< closed unless the settings want them; only for the monitor
  std::atomic<unsigned> target_{1};
  std::atomic<unsigned> blocked_{0};
  std::atomic<bool> short_{false};
  std::atomic<bool> capped_{false};  ///< a quota takes away what waiting workers burn
  /// Workers that the facts allow, without those that are made up for. Guarded by deciding_.
  unsigned allowed_ = 1;
  unsigned limit_ = 0;  ///< the program's own limit; 0: none
  // Only for the monitor.
  std::vector<delay> delays_;
  std::uint64_t looked_at_ = 0;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t ran_ns_ = 0;
  std::chrono::steady_clock::time_point judged_at_{};
  std::chrono::nanoseconds patience_{0};  ///< until the next sample
  std::uint64_t steals_ = 0;  ///< of all workers, at the last sample
  bool starved_ = false;  ///< one worker hardly ran for long, though it wanted to
  std::chrono::steady_clock::time_point no_spread_before_{};

  std::atomic<bool> dozing_{false};
  std::atomic<bool> ending_{false};
  std::atomic<std::uint32_t> alarm_{0};  ///< futex of the monitor
  std::thread thread_;
  mutable std::mutex deciding_;  ///< the target, the threads' number and the log
  std::vector<decision> log_;
};

}  // namespace sukima::detail
