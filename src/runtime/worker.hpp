// SPDX-License-Identifier: Apache-2.0
// A worker (the data of one thread that runs tasks), and the table of a runtime's workers.
#pragma once

#include "fiber/exception_state.hpp"
#include "invariants/rest_mark.hpp"
#include "observe/trace.hpp"
#include "park/learned_spin.hpp"
#include "park/wake_epoch.hpp"
#include "place/worker_hints.hpp"
#include "steal/mailbox.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/detail/task.hpp>
#include <sukima/settings.hpp>
#include <sukima/statistics.hpp>

#include <boost/context/detail/fcontext.hpp>

#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace sukima::detail {

struct fiber;
struct runtime_core;

/// Flags of a worker. A thread that sets one requests a poll of the worker's fiber afterwards.
inline constexpr std::uint32_t flag_check_abort = 1;  ///< a task was aborted, perhaps the worker's
inline constexpr std::uint32_t flag_leave =
    2;  ///< hand the fiber over: the thread is called home (park/call_home.hpp)
inline constexpr std::uint32_t flag_remote = 4;  ///< another node wants a task (remote/remote_interface.hpp)
inline constexpr std::uint32_t flag_place = 8;  ///< a worker may exchange fibers with it (place/hints.hpp)

/// Actions of a thread when it leaves the runtime.
inline constexpr std::uint8_t duty_unpin = 1;  ///< it stays on one CPU, or will in a moment
inline constexpr std::uint8_t duty_region = 2;  ///< it entered from a parallel region (control/monitor.hpp)

/// States of a worker, in the order of trace_kind. Their times are counted in ticks of `ticks()`.
enum class worker_state : unsigned { working, searching, sleeping, outside };

/// The common data of a runtime's workers.
struct worker_origin {
  runtime_core& runtime;  ///< stored in each worker, and not used
  const settings& chosen;
  std::uint64_t serial;  ///< of the runtime
  rest_events& rest;
};

struct alignas(128) worker {
  /// \param in_runtime  the worker's number in the table
  /// \param in_rank  see `rank`
  worker(const worker_origin& from, unsigned in_runtime, unsigned in_rank);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  runtime_core* const runtime;
  const unsigned id;  ///< number in the runtime, from 0
  const std::uint32_t number;  ///< number among all workers that this process ever had, from 1
  const unsigned rank;  ///< number among the background workers, from 1; 0: a thread that entered
  const bool background;  ///< whether its thread is one of the runtime's own

  // Other threads read and write these members.
  /// The fiber that it runs, exchanged at every switch. A thread that has set a flag reads this afterwards.
  /// pairs with: arrive, switch_within in switch.cpp; request_abort_checks in abort.cpp; call_home in
  /// call_home.cpp; request_place_check in place_events.cpp; remind in hints.cpp; begins, ask_all in
  /// remote_interface.cpp; poll in request.cpp; request_poll_all, steal_from in find_work.cpp
  atomic<fiber*> current{nullptr};
  /// Other threads set flags; the worker reads and clears them.
  /// pairs with: arrive in switch.cpp; poll_slow in poll.cpp; check_abort in poll_abort.cpp;
  /// request_abort_checks in abort.cpp; execute in execute.cpp; is_wanted in park.cpp;
  /// request_place_check, clear_place_flag in place_events.cpp; set_question, answer in
  /// remote_interface.cpp; call_home, answer_call_home in call_home.cpp; is_called_home in call_home.hpp
  atomic<std::uint32_t> flags{0};
  wake_epoch epoch;
  /// The tick at which it was last unparked; 0: not since its last sleep began. no partner: a hint
  std::atomic<std::uint64_t> unparked_at{0};
  /// Whether it is counted as parked, or about to be (park.hpp).
  /// pairs with: park, unpark_one, sleep_as_sentinel, sleep_until_called_up in park.cpp
  atomic<bool> parked{false};
  /// Whether it belongs to a background thread, or to a thread that entered.
  /// pairs with: take, try_unannounced, give_back in entries.cpp; is_taken in worker.hpp
  atomic<bool> taken{true};
  /// Whether a thread that entered has it.
  bool is_taken() const noexcept { return !background && taken.load(std::memory_order_seq_cst); }
  /// Whether it is taken and works. Relaxed: the counts order it (pin_all in worker_placement.cpp).
  /// pairs with: try_enter in entries.cpp; pin_all in worker_placement.cpp
  std::atomic<bool> inside{false};
  /// The affinity of its thread, valid while is_pinned(). worker_placement writes it before setting that, or
  /// the thread itself, if each background worker stays on one CPU (pin_policy::cpu).
  cpu_set_t affinity_before{};
  /// worker_placement writes `duty_unpin`, and the worker's own thread the other duty. They share a word,
  /// because each entry reads it at its end.
  /// pairs with: pin_all, pin_again, unpin, unpin_after_fork in worker_placement.cpp; attend_entry,
  /// entry_ended in monitor.cpp; is_pinned; try_enter in entries.cpp
  std::atomic<std::uint8_t> duties{0};
  bool is_pinned() const noexcept { return (duties.load(std::memory_order_acquire) & duty_unpin) != 0; }
  /// Whether it shares its CPU with another worker (lent CPUs). Written by worker_placement. no partner: a
  /// hint
  std::atomic<bool> shares_cpu{false};
  /// The kernel's number of the thread that is this worker; 0: none. no partner: a hint for the monitor
  std::atomic<int> thread_id{0};
  steal_mailbox mailbox;
  /// Whether it runs a fiber, so it polls; used only if a node is attached (remote/remote_interface.hpp).
  /// pairs with: begins, stops, ask_all in remote_interface.cpp
  std::atomic<bool> answers_remote{false};
  /// Whether it owes the node an answer. pairs with: set_question, ask_all, answer, stops in
  /// remote_interface.cpp
  std::atomic<bool> asked_by_node{false};
  /// The reply to this worker's own request: null: pending; no_task; else the task (steal/mailbox.hpp).
  /// pairs with: reply_to_thief, poll, withdraw in request.cpp
  atomic<task*> reply{nullptr};
  /// The tick at which it last took a thief's request, with settings::request_interval_us.
  /// no partner: a hint
  std::atomic<std::uint64_t> replied_at{0};
  worker_hints hints;

  // Used by its own thread only.
  alignas(128) boost::context::detail::fcontext_t home = nullptr;  ///< the thread's own stack
  /// The fiber of another runtime whose code has entered; null: none. Tasks of the root may read it.
  fiber* entered_from = nullptr;
  char* visited_from = nullptr;  ///< where a visit left the thread's own stack (fiber/visit.hpp)
  bool announced = false;  ///< whether the root that its thread began unannounced has been announced since
  exception_state home_exceptions;
  exception_state* thread_exceptions = nullptr;  ///< the C++ runtime's own exception state of this thread
  void* home_tsan_fiber = nullptr;
  void* home_fake_stack = nullptr;
  const void* home_stack_bottom = nullptr;
  std::size_t home_stack_size = 0;
  std::uint64_t random_state;
  const worker* last_victim = nullptr;  ///< worker that gave it its last task; null: none, or it has no more
  std::array<fiber*, 4> cache{};
  unsigned cached = 0;
  worker_statistics statistics;
  std::uint64_t split_at;  ///< tick at which work was last split off here for others; at first its creation
  worker_state state = worker_state::outside;
  std::uint64_t state_since;
  learned_spin spin;
  std::uint64_t root_began_at = 0;  ///< tick at which its thread entered last
  std::uint64_t root_ended_at = 0;  ///< tick at which that root ended here; 0: on another worker, or not yet
  trace_buffer* trace;  ///< null: no trace

  [[no_unique_address]] rest_mark rest;  ///< for the check at rest; written by its own thread
  rest_events& rest_changes;
  void rests(rest_place place) noexcept;
  /// Called before it sleeps until its wake epoch differs from `seen`.
  void sleeps(rest_place place, std::uint32_t seen) noexcept;

  std::uint64_t random() noexcept;
  fiber* take_fiber();  ///< a fresh fiber; null: no memory
  /// Whether the next call of take_fiber finds a fiber in the cache; puts one there if it can.
  bool has_spare_fiber();
  /// Takes back a fiber that no worker runs, perhaps for the next call of take_fiber.
  void give_fiber(fiber* s) noexcept;
  void enter_state(worker_state s) noexcept;
  void enter_state(worker_state s, std::uint64_t now) noexcept;
  void note(trace_kind kind, std::uint32_t argument = 0) noexcept;
  void count_abort() noexcept {
    ++statistics.aborts;
    note(trace_kind::abort);
  }
};

inline constexpr unsigned max_workers = 4096;

/// The workers of a runtime. Workers are only added, and live as long as the runtime.
class worker_table {
 public:
  explicit worker_table(const worker_origin& origin)
      : origin_(origin), workers_(new std::atomic<worker*>[max_workers]) {}
  ~worker_table();
  worker_table(const worker_table&) = delete;
  worker_table& operator=(const worker_table&) = delete;

  unsigned size() const noexcept { return count_.load(std::memory_order_acquire); }
  /// \param i below a size that was read before
  worker& operator[](unsigned i) const noexcept { return *workers_[i].load(std::memory_order_relaxed); }

  struct iterator {
    const std::atomic<worker*>* at;  ///< Relaxed: the acquire load of `count_` orders it. pairs with: add
    worker& operator*() const noexcept { return *at->load(std::memory_order_relaxed); }
    iterator& operator++() noexcept {
      ++at;
      return *this;
    }
    bool operator==(const iterator&) const = default;
  };
  struct range {
    iterator from;
    iterator to;
    iterator begin() const noexcept { return from; }
    iterator end() const noexcept { return to; }
  };
  /// The workers that were added so far.
  range all() const noexcept { return {{workers_.get()}, {workers_.get() + size()}}; }
  /// Whether a thread that entered has a worker. Linear.
  bool is_any_taken() const noexcept {
    for (const worker& w : all())
      if (w.is_taken()) return true;
    return false;
  }

  /// \param rank  of a background worker, from 1; 0: for a thread that enters
  worker& add(unsigned rank);

 private:
  const worker_origin origin_;
  const std::unique_ptr<std::atomic<worker*>[]> workers_;  ///< pairs with: add, size
  std::atomic<unsigned> count_{0};  ///< pairs with: add, size
  std::mutex growing_;
};

}  // namespace sukima::detail
