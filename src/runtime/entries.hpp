// SPDX-License-Identifier: Apache-2.0
// The entries of outside threads: a thread becomes a worker of the runtime during a call.
//
// Closing: close() sets `refused_`, then waits until no entry is counted (park/park.hpp). An entry first
// counts itself and then reads `refused_`, so close() either waits for it or it is refused. An unannounced
// entry (fiber/unannounced.hpp) is not counted, but its worker is taken. So close() waits for these workers,
// too.
#pragma once

#include <sukima/detail/atomics.hpp>
#include <sukima/errors.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sukima::detail {

class assigned_cpus;
class lifetime;
class monitor;
class parking;
class place_events;
class worker_table;
struct root_task;
struct tuned_ticks;
struct fiber;
struct last_entry;
struct worker;

class runtime_entries {
 public:
  /// \param serial  of the runtime
  runtime_entries(std::uint64_t serial, const tuned_ticks& tuned, worker_table& workers, const lifetime& life,
                  parking& park, monitor& monitor_thread, assigned_cpus& placement, place_events& hints);
  runtime_entries(const runtime_entries&) = delete;
  runtime_entries& operator=(const runtime_entries&) = delete;

  /// \throws usage_error, std::system_error, the root's exception
  void enter(root_task& root);
  /// The same, but does nothing if entries are refused. \returns false if they are
  bool try_enter(root_task& root);
  /// Like enter(), although entries are refused.
  void enter_last(root_task& root);
  bool are_refused() const noexcept { return refused_.load(std::memory_order_seq_cst); }

  /// Refuses entries from now on, and waits until all counted entries have ended.
  void close();
  /// Like close(), if no entry is counted and `is_unused` returns true. \returns false if entries are
  /// admitted as before; an entry may have been refused in the meantime
  template <class Condition> bool close_if(Condition is_unused);
  /// Takes the worker for a root that is not announced. \returns false if it is taken already, or entries are
  /// refused
  bool take_unannounced(worker& w) noexcept;
  /// The last access of a thread to the runtime: its entry has ended, or does not take place.
  static void give_back(worker& w) noexcept;
  /// Makes the running fiber's root visible to other threads (fiber/unannounced.hpp).
  void announce(fiber& s) noexcept;

 private:
  worker* acquire_worker(last_entry& mine);
  /// Takes a worker that no thread has, for a thread whose last worker is not free. Separate from
  /// acquire_worker, which then saves fewer registers.
  [[gnu::noinline]] void take_any(last_entry& mine);
  bool is_refused(const root_task& root) const noexcept;
  /// Whether an entry is counted, or a thread has a worker.
  bool are_counted() const noexcept;
  /// Waits until no thread that entered has a worker.
  void await_threads() const noexcept;
  bool enter_announced(last_entry& mine, root_task& root, bool is_short);
  /// Runs the root, which may be announced while it runs. \returns false if nothing has happened
  bool try_unannounced(last_entry& mine, root_task& root) noexcept;
  /// Whether nothing but the root itself can make an announced entry differ from an unannounced one.
  bool is_plain(const worker& w) const noexcept;
  /// Whether the entry that began at that tick began after a time in which no thread was inside.
  bool follows_silence(std::uint64_t begun) const noexcept;
  void begin_work(worker& w, std::uint64_t now) noexcept;
  /// Ends an announced entry. \param is_timed  the root began at worker::root_began_at
  void leave(last_entry& mine, worker& w, root_task& root, bool after_silence, bool is_timed) noexcept;
  void end_entry(std::uint64_t now) noexcept;
  /// Performs the duties of a thread whose entry is no longer counted.
  void perform_duties(worker& w) noexcept;

  const std::uint64_t serial_;
  const bool may_be_unannounced_;
  const tuned_ticks& tuned_;
  worker_table& workers_;
  const lifetime& life_;
  parking& park_;
  monitor& monitor_thread_;
  assigned_cpus& placement_;
  place_events& hints_;
  /// pairs with: close, close_if; is_refused, end_entry in entries.cpp
  atomic<bool> refused_{false};
  /// The one root whose entry is not refused. no partner: written by the thread that enters with it
  std::atomic<const root_task*> last_root_{nullptr};
  std::mutex leaving_;
  std::condition_variable left_;  ///< an entry ended while `refused_`
};

template <class Condition> bool runtime_entries::close_if(Condition is_unused) {
  const std::lock_guard hold(leaving_);
  // Stored first, then the counts are read; try_enter() counts itself first.
  const bool before = refused_.exchange(true, std::memory_order_seq_cst);
  if (!are_counted() && is_unused()) return true;
  refused_.store(before, std::memory_order_seq_cst);
  return false;
}

/// The error of an entry into a runtime that was shut down.
usage_error was_shut_down();

}  // namespace sukima::detail
