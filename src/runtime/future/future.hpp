// SPDX-License-Identifier: Apache-2.0
// Futures: expressions that are computed at some time between their launch and their touch.
//
// The *cell* of a future is one word: first 0, then perhaps the list of its waiters, then how it ended
// (future_cell::state_). The thread that ends it takes the list in the same CAS and resumes all waiters. A
// waiter adds itself by CAS before it is suspended, or finds that the future has ended. So no waiter is
// forgotten, and none is resumed twice. A waiter that is aborted removes itself, for which it locks the list.
// A cell ends once: by the thread that ran the expression, or by one that cancelled or dropped it.
//
// A future of a block that its own fiber computes ends by a plain store, if no other thread has *claimed* the
// cell (future_waiting::claim, future_cell::end_in_place). A claim is a store, a fence in all running threads
// of the process, and a check whether the end has begun. Tasks that were split off inside the block need no
// claim: the fiber's poll limit shows that they exist.
//
// A future of a *block* is a choice point with work: split off, published, stolen and reclaimed like the
// second branch of a fork. Only its own fiber, or a helper of that fiber, changes the choice point. An
// expression that no helper has split off runs where it is touched, as a plain call in the same segment. With
// forks, a fiber that waits has nothing left to split: choice points older than the awaited one were split
// before it, and younger ones have finished. With futures this is different: a younger future may be pending
// while an older one is touched, and the older one may touch the younger one. So a fiber that touches a
// future which another fiber runs looks for work that it can split. If there is none, it waits as at a join
// (await), and may run descendants on top. Otherwise it suspends itself, and helpers split the rest off.
//
// A *launched* future waits in the runtime's list of futures that no worker has begun, the oldest first. A
// worker without work takes it out under the list's lock and runs it. A fiber that touches the future claims
// it without that lock, and leaves it in the list until its end. The exchange of one word, launched::unbegun,
// decides which of them begins it. It has no parent and no owner, so only its own cancellation aborts it.
// With placement_policy::queue, futures with a hint wait in separate lists, one for each place. Only idle
// workers in that place take from such a list; a fiber that touches the future waits. That is the naive
// scheme of the paper on Schematic (section 3), which has no bound on its space; see place_queues.cpp.
//
// Models: model/future.pml; model/ending.pml for the end without a locked instruction.
#pragma once

#include "cancel/abort.hpp"
#include "fiber/switch.hpp"
#include "park/future_source.hpp"
#include "park/wait_turn.hpp"

#include <sukima/capacity/places.h>
#include <sukima/detail/ambient.hpp>
#include <sukima/detail/launched.hpp>
#include <sukima/settings.hpp>
#include <sukima/suspend.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace sukima::detail {

struct fiber;
struct runtime_core;
struct worker;
class parking;
class place_events;
class rest_check;

/// A fiber or thread that waits for the end of a future. The object is in the waiter's own frame.
struct future_waiter {
  /// Called once, by the thread that ends the future. The waiter may be destroyed afterwards.
  void (*ended)(future_waiter&) noexcept = nullptr;
  future_waiter* next = nullptr;
};

/// Operations of the library on a cell. A program may be compiled with ThreadSanitizer while the library is
/// not. Therefore the library announces each end that it writes.
class future_waiting {
 public:
  /// future_cell::end for the library's code.
  static void end(future_cell& cell, future_end how) noexcept;
  /// future_cell::how for the library's code. \returns none of the ends if the future has not ended
  static future_end how(const future_cell& cell) noexcept;
  /// \returns false if it has ended: no thread will resume the waiter
  static bool add(future_cell& cell, future_waiter& waiter) noexcept;
  /// \returns false if it has ended: a thread is about to resume the waiter
  static bool remove(future_cell& cell, future_waiter& waiter) noexcept;
  /// Makes the fiber of a block's future end the future by a CAS, or waits until the future has ended. Called
  /// before another thread changes the state.
  static void claim(future_cell& cell, const choice_point* point) noexcept;
};

/// Suspends the running fiber until the future has ended, but not beyond a moment.
/// \returns whether it has ended \throws aborted; std::system_error if there is no thread for the clock
bool wait_for_end(char* top, future_cell& cell,
                  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());
/// Waits for a future of a runtime in which the caller is not (outside.cpp), until the future has ended, but
/// not beyond a moment. \returns whether it has ended \throws as wait_for_end
bool touch_from_outside(
    char* top, launched& t,
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());
/// The same as touch_from_outside, but the caller enters the runtime and computes there until the future has
/// ended.
void compute_from_outside(launched& t);

/// Gives away the open work of the running segment up to its youngest future. Called before a task runs on
/// top that may touch such a future. Work that is split off is joined as always. A future that is not split
/// off would run where it is touched, in the segment on top.
void give_futures_away(fiber& s, char* top) noexcept;

/// Calls f with the running fiber; on an ordinary thread, with a fiber of the default runtime.
template <class F> void in_runtime(F&& f) {
  if (fiber* const s = running_fiber()) return f(*s);
  const auto on_a_worker = [&](context) { f(*running_fiber()); };
  root_of<decltype(on_a_worker) const> root(on_a_worker);
  enter_default(root);
}
/// Sets the members of a launched task that it needs before it is added to the runtime of this fiber. \throws
/// std::bad_alloc
void prepare_launch(fiber& s, launched& t);
/// Drops a future that was taken out of its list. The future may be freed afterwards.
void drop(launched& t) noexcept;
/// Add and drop a reference of the library. The last reference frees the future.
void hold_for_library(launched& t) noexcept;
void drop_own_reference(launched& t) noexcept;
/// Claims a future that no fiber has begun. Its list keeps it until it has ended, or until a worker finds it
/// there. \returns false if it has begun, or waits for other futures to end
inline bool begin_once(launched& t) noexcept {
  return t.unbegun.load(std::memory_order_relaxed) && t.unbegun.exchange(false, std::memory_order_acq_rel);
}
inline void append(launched& t, launched*& oldest, launched*& newest) noexcept {
  t.before = newest;
  t.after = nullptr;
  (newest != nullptr ? newest->after : oldest) = &t;
  newest = &t;
}
inline void unlink(launched& t, launched*& oldest, launched*& newest) noexcept {
  (t.before != nullptr ? t.before->after : oldest) = t.after;
  (t.after != nullptr ? t.after->before : newest) = t.before;
}

/// The futures of a runtime that were launched and have not ended.
class launched_futures final : public future_source {
 public:
  launched_futures(const settings& chosen, const worker_table& workers, parking& park,
                   const place_events& hints, const abort_listeners& aborts);

  /// Adds a future that no worker has begun. Runs no future, because the caller may hold locks.
  /// \throws usage_error after close()
  void add(launched& t);
  task* take(const worker& w) noexcept override;
  /// Takes back a future that no worker has begun; the caller drops it. \returns false if it was begun
  bool withdraw(launched& t) noexcept;
  /// Adds a future that waits for other futures to end. \throws usage_error after close()
  void add_dependent(launched& t);
  /// Lets a dependent future begin, after its sources have ended. \pre the caller has changed its stage
  void begin_dependent(launched& dependent) noexcept;
  /// Makes a worker look for a future that was just added.
  /// \param queue  of the future, which may have ended since
  void call_workers(sukima_place queue) noexcept;
  // Queues of places, for placement_policy::queue.

  /// Chooses the queue of a future with a hint that is not added yet. It gets no queue if its place is any,
  /// the whole machine, or a place that the machine does not have. \pre hints in use \throws std::bad_alloc
  void choose_queue(launched& t);
  /// Makes all workers that may take from that queue check it, and wakes them. Called after add().
  void call_workers_to(sukima_place queue) noexcept;
  /// The same for all queues that are not empty, because a place may have lost its last worker.
  void call_workers_to_queues() noexcept;
  /// Waits for a future that is in a queue. \throws aborted \pre the running fiber is not bound to anything
  void wait_for_queued(fiber& self, char* top, const launched& touched);
  /// Ends the program if futures wait in queues, because these have used the memory.
  /// \param missing  the object that could not be allocated
  void end_if_queued(const char* missing) noexcept;

  /// Largest number of unbegun futures at a time, in all lists, including futures between others that touches
  /// have claimed. queued(): the present number in queues of places.
  std::size_t most_waiting() const noexcept { return most_waiting_.load(std::memory_order_relaxed); }
  std::size_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }

  /// Takes an ended future out of the list. The future may be freed afterwards.
  void ended(launched& t) noexcept;
  /// The owner of all launched futures, which is a fiber that never runs. Received tasks have another such
  /// owner, by which nodes recognise them.
  fiber& no_owner() noexcept;
  /// Cancels all futures, waits until they have ended, and accepts no more. Called on a fiber of the runtime.
  void close(char* top);

 private:
  friend class rest_check;
  struct list {
    launched* oldest = nullptr;
    launched* newest = nullptr;
  };
  // \pre of all: the lock is held
  void refuse_if_closed() const;
  std::uint64_t pending() const noexcept { return counts_.load(std::memory_order_seq_cst) % one_unfinished; }
  void rise(std::uint64_t by) noexcept { counts_.fetch_add(by, std::memory_order_seq_cst); }
  void fall(std::uint64_t by) noexcept {
    counts_.store(counts_.load(std::memory_order_relaxed) - by, std::memory_order_release);
  }
  void enlist(launched& t, std::uint64_t unfinished) noexcept;
  void leave_waiting(launched& t) noexcept;
  void move_to_begun(launched& t) noexcept;
  launched* begin_oldest(list& from) noexcept;
  bool take_dependent(launched& t) noexcept;
  launched* take_any() noexcept;
  launched* cancel_begun() noexcept;
  launched* take_queued(const worker& w) noexcept;
  list& list_of(const launched& t) noexcept {
    return t.queue == SUKIMA_PLACE_ANY ? waiting_ : queues_[t.queue];
  }

  const settings& chosen_;
  const worker_table& workers_;
  parking& park_;
  const place_events& hints_;
  const abort_listeners aborts_;
  policy_mutex lock_;
  list waiting_;  ///< futures that no worker has begun, and some that touches have claimed
  list dependent_;  ///< futures that wait for others to end
  /// Indexed by the place's number, made for the first future; protected by the lock. Like `waiting_`.
  std::unique_ptr<list[]> queues_;
  std::uint32_t queue_count_ = 0;
  list begun_;
  bool closed_ = false;
  resumer last_;  ///< of close(): the thread that ends the last future resumes it
  /// Number of futures in `queues_`. Changed and read like `counts_`. pairs with: enlist, leave_waiting, take
  std::atomic<std::size_t> queued_{0};
  std::atomic<std::size_t> touchers_{0};  ///< fibers that wait for a queue. no partner: number for a message
  std::atomic<std::size_t> most_waiting_{0};  ///< no partner: statistics only
};

}  // namespace sukima::detail
