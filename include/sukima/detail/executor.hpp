// SPDX-License-Identifier: Apache-2.0
// Executors: fibers that are bound to one another, so that one of them runs at a time.
//
// The holder of an executor's *token* runs its fibers, so data that they share needs no lock and no atomic
// instruction. A fiber that stops passes the token to the next ready one and switches to it directly. If none
// is ready, the token is free, and the worker does other work.
//
// `inbox_` is the whole protocol. It is `free_mark` while the token is free. Otherwise it is a list, newest
// first, of the fibers that other threads have made runnable; null: the list is empty.
//   post      any thread, for a parked fiber. If the token is free: CAS free → null takes it, and the
//             fiber goes to the runtime's queue with it. Else: CAS list → fiber, list.
//   collect   the holder: exchange list → null
//   release   the holder, when no fiber is ready: CAS null → free; it fails if a fiber was posted.
// An executor with a thread of its own is never in the queue. Its token belongs to the thread, and
// `free_mark` means that the thread sleeps or is about to sleep. Model: src/runtime/model/executor.pml.
#pragma once

#include <sukima/detail/atomics.hpp>
#include <sukima/detail/task.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sukima::detail {

struct fiber;
struct runtime_core;
struct worker;

/// The name of a bound fiber in messages of the runtime, as its owner calls it. The texts outlive the fiber.
struct fiber_label {
  const char* kind = nullptr;  ///< such as "the object"
  const char* name = nullptr;  ///< null: the fiber has no name
  /// Advice on how to give such a fiber a larger C stack, such as "give it more with .stack(bytes)".
  const char* more_stack = nullptr;
};

/// The task of a bound fiber. It does not run if it is cancelled before it begins.
struct bound_task : task {
  /// Called when the fiber has ended and its executor's token has been passed on: the executor may be
  /// destroyed.
  void (*ended)(bound_task*) noexcept = nullptr;
  fiber_label label;  ///< set before make_fiber
};

class executor {  // NOLINT(clang-analyzer-optin.performance.Padding): the inbox has a line of its own
 public:
  enum class runs_on {
    workers,  ///< the runtime's workers in turn
    thread,  ///< the thread that calls serve()
  };
  /// The thread that makes the executor holds the token until start() or serve().
  executor(runtime_core& core, runs_on where) noexcept : core_(core), where_(where) {}
  bool has_own_thread() const noexcept { return where_ == runs_on::thread; }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Makes a fiber that runs the task once it is made ready, and is parked until then. Only for the holder of
  /// the token.
  /// \param stack  bytes of its C stack; above 16 KiB: one of the runtime's ordinary fibers
  /// \throws std::system_error no memory
  fiber& make_fiber(bound_task& first, std::size_t stack);

  /// Passes the token from the maker to the runtime's workers. Not for an executor with a thread of its own.
  void start() noexcept { release(); }

  /// Reports that a parked fiber of this executor can continue. May be called by any thread.
  void post(fiber& resumed) noexcept;

  // Only the holder of the token, that is a running fiber of this executor, may call the other functions.

  /// Makes a parked fiber ready, after those that are ready already.
  void make_ready(fiber& s) noexcept;
  bool has_ready() const noexcept { return first_ready_ != nullptr; }
  /// The fibers that can continue, in the order of their turns.
  std::vector<fiber*> ready_fibers() const;
  /// Moves fibers to another executor, whose token the caller holds, too. Each is ready, or parked until
  /// make_ready, so no other thread uses it. \par Complexity linear in these and the ready fibers
  void give(std::span<fiber* const> moved, executor& to) noexcept;
  /// Moves the fibers that other threads have posted to the list of ready fibers.
  void collect() noexcept;
  /// Parks the running fiber and runs the next ready one. Returns when another fiber or thread has made it
  /// ready.
  /// \throws usage_error inside thread_bound, with the fiber's name; std::system_error no memory
  void park();
  /// park() for the running fiber s, by a short switch. The caller must check afterwards whether its task was
  /// cancelled during the wait.
  /// \returns false if it did nothing: no fiber is ready, or s has choice points or is not a small fiber. The
  /// caller must then use park()
  bool park_shortly(fiber& s) noexcept;
  /// Lets the ready fibers run first.
  void take_turns();
  /// Releases the worker for other work. The next free worker takes the token and the running fiber.
  void hand_over();
  /// Whether the worker's thread should return to its own fiber.
  bool is_called_home() const noexcept;
  /// Whether other work waits for a worker.
  bool others_wait() const noexcept;

  /// Runs fibers of an executor with a thread of its own until all have ended. That thread calls it inside
  /// the runtime, once.
  void serve();

  // For the runtime (executor.cpp).
  using after = void (*)(worker&, fiber* from, void*);
  /// \returns false: there is no memory for another fiber, and the caller continues to run
  bool leave(fiber& s, after then, void* argument);
  /// If the CPU has no other work, waits a few microseconds for a fiber to become ready, or for another
  /// thread to resume s, which is about to stop.
  void look_around(const fiber& s) noexcept;
  void leave_for(fiber& s, fiber& other, after then, void* argument);
  /// The same for the thread's own stack instead of another fiber.
  void leave_for_home(fiber& s, after then, void* argument);
  [[noreturn]] void end(fiber& s, bound_task& t);

 private:
  struct departure;
  static void depart(worker& w, fiber* from, void* argument);
  static void retire(worker& w, fiber* from, void* argument);
  [[noreturn]] void end_without_fiber(worker& w, fiber& s, bound_task& t);
  fiber* take_ready() noexcept;
  void release() noexcept;
  static fiber* free_mark() noexcept;

  runtime_core& core_;
  const runs_on where_;
  fiber* first_ready_ = nullptr;
  fiber* last_ready_ = nullptr;
  std::size_t living_ = 0;  ///< fibers that have not ended
  fiber* server_ = nullptr;  ///< the fiber of serve()
  worker* server_on_ = nullptr;  ///< its worker
  /// Sequentially consistent where a thread sleeps. pairs with: post, collect, release, serve in executor.cpp
  alignas(64) atomic<fiber*> inbox_{nullptr};
};

/// The executor of the running fiber; null: it has none.
executor* running_executor() noexcept;
/// The task that runs on the running fiber of an executor: the fiber's own task, or a task that was forked
/// there. Null: the running fiber has no executor.
task* running_bound_task() noexcept;
/// The runtime in which this thread's code runs; null: none.
runtime_core* running_runtime() noexcept;
/// Whether a worker looks for work.
bool has_idle_worker(const runtime_core& core) noexcept;
/// The running fiber; null: none.
fiber* this_fiber_now() noexcept;

/// Begins a suspension in two steps, for a fiber that registers at several places. The fiber calls
/// begin_suspension, publishes itself to the threads that may resume it, and then calls finish_suspension,
/// which returns after it was resumed. Instead of the second step the fiber may claim the suspension itself
/// (claim_suspension).
/// \returns the number of the suspension
std::uint64_t begin_suspension(fiber& s) noexcept;
void finish_suspension(fiber& s);
/// Ends the running fiber's own suspension. False: another thread has resumed it.
bool claim_suspension(fiber& s, std::uint64_t number) noexcept;
/// Resumes that suspension unless another call has resumed it. Does nothing for a suspension that has ended.
/// May be called by any thread.
/// \returns whether this call resumed it
bool try_resume(fiber& suspended, std::uint64_t number) noexcept;

/// Whether that suspension has parked the fiber. May be called by any thread.
/// \param in_place whether the fiber waits on its thread (thread_bound), so that it has only begun to suspend
bool is_suspended(const fiber& s, std::uint64_t number, bool in_place) noexcept;
/// The result of find_ambient while the fiber runs.
const ambient_state* ambient_of_fiber(const fiber& s) noexcept;

/// Throws `aborted` if the running fiber's computation was cancelled. Must be called after a wait.
void leave_if_cancelled(fiber& s);
/// Announces cancellations of bound fibers' tasks, whose `cancelled` was set before.
void announce_cancellation(runtime_core& core) noexcept;

}  // namespace sukima::detail
