// SPDX-License-Identifier: Apache-2.0
// Executors: fibers bound to one another, of which one runs at a time.
//
// Whoever holds an executor's *token* runs its fibers; so what they share needs no lock and no atomic
// instruction. A fiber that stops gives the token to the next ready one and switches to it directly. If
// none
// is ready, the token is free, and the worker does other work.
//
// `inbox_` is the whole protocol. `free_mark`: nobody holds the token. Else a list, newest first, of the
// fibers that others have made runnable; null: it is empty.
//   post      anyone, for a parked fiber. If the token is free: CAS free → null takes it, and the
//             fiber goes to the runtime's queue with it. Else: CAS list → fiber, list.
//   collect   the holder: exchange list → null
//   release   the holder, when nothing is ready: CAS null → free; where it fails something was posted.
// An executor with a thread of its own is never in the queue: its token is the thread's, and `free_mark`
// says that the thread sleeps or is about to. Model: src/runtime/model/executor.pml.
#pragma once

#include <sukima/detail/atomics.hpp>
#include <sukima/detail/task.hpp>

#include <cstddef>
#include <cstdint>

namespace sukima::detail {

struct fiber;
struct runtime_core;
struct worker;

/// What a bound fiber runs; not at all if it is cancelled before it begins.
struct bound_task : task {
  /// The fiber was left for good and its executor's token is given on: the executor may be destroyed.
  void (*ended)(bound_task*) noexcept = nullptr;
  const char* label = nullptr;  ///< named where its C stack overflows; null: none. Set before make_fiber.
};

class executor {  // NOLINT(clang-analyzer-optin.performance.Padding): the inbox has a line of its own
 public:
  enum class runs_on {
    workers,  ///< the runtime's workers in turn
    thread,   ///< the thread that calls serve()
  };
  /// Its maker holds the token, until start() or serve().
  executor(runtime_core& core, runs_on where) noexcept : core_(core), where_(where) {}
  bool has_own_thread() const noexcept { return where_ == runs_on::thread; }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// A fiber that runs the task when it is made ready; parked until then. For the holder of the token.
  /// \param stack bytes of its C stack; above 16 KiB: one of the runtime's ordinary fibers
  /// \throws std::system_error no memory
  fiber& make_fiber(bound_task& first, std::size_t stack);

  /// The maker gives the token to the runtime's workers. Not for an executor with a thread of its own.
  void start() noexcept { release(); }

  /// Any thread: a parked fiber of this executor can go on.
  void post(fiber& s) noexcept;

  // The rest is for the holder of the token, that is for a fiber of this executor while it runs.

  /// A parked fiber can go on, after those that are ready.
  void make_ready(fiber& s) noexcept;
  bool has_ready() const noexcept { return first_ready_ != nullptr; }
  /// Takes what others have posted into the list of ready fibers.
  void collect() noexcept;
  /// Parks the running fiber and goes on with the next ready one. Returns when somebody has made it ready.
  /// \throws usage_error inside of thread_bound; std::system_error no memory
  void park();
  /// park() for the fiber s, which is the running one, by a short switch; the caller looks itself whether
  /// its task was cancelled meanwhile. False, and nothing was done: only park() will do, because nothing is
  /// ready, or the fiber has choice points or is no small one.
  bool park_shortly(fiber& s) noexcept;
  /// Lets the ready fibers go first.
  void take_turns();
  /// The worker is wanted elsewhere: goes, and leaves the token, with the running fiber, to the next one
  /// that is free.
  void hand_over();
  /// Is the worker's thread wanted at home?
  bool is_called_home() const noexcept;
  /// Does something else wait for a worker?
  bool others_wait() const noexcept;

  /// Runs fibers of an executor with a thread of its own until all have ended. Called by that thread inside
  /// of the runtime, once.
  void serve();

  // For the runtime (executor.cpp).
  using after = void (*)(worker&, fiber* from, void*);
  /// False: there is no memory for another fiber, and the caller runs on.
  bool leave(fiber& s, after then, void* argument);
  /// Where the CPU has nothing better to do, looks a few microseconds long whether a fiber gets ready, or
  /// somebody resumes s, which is about to stop.
  void look_around(const fiber& s) noexcept;
  void leave_for(fiber& s, fiber& other, after then, void* argument);
  [[noreturn]] void end(fiber& s, bound_task& t);

 private:
  struct departure;
  static void depart(worker& w, fiber* from, void* argument);
  static void retire(worker& w, fiber* from, void* argument);
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
/// The runtime that this thread is inside of; null: none.
runtime_core* running_runtime() noexcept;
/// The running fiber; null: none.
fiber* this_fiber_now() noexcept;

/// A suspension in two steps, for a fiber that registers at several places: begin_suspension, tell whoever
/// may resume it, then finish_suspension, which returns when it was resumed. Instead of the second step the
/// fiber may claim the suspension itself (claim_suspension).
/// \returns the number of the suspension
std::uint64_t begin_suspension(fiber& s) noexcept;
void finish_suspension(fiber& s);
/// The running fiber ends its own suspension. False: somebody has resumed it.
bool claim_suspension(fiber& s, std::uint64_t number) noexcept;
/// Resumes that suspension if nobody has; harmless for one that is over. Any thread.
/// \returns whether it was this call that resumed it
bool try_resume(fiber& s, std::uint64_t number) noexcept;

/// Is the fiber parked by that suspension? Any thread.
bool is_suspended(const fiber& s, std::uint64_t number) noexcept;
/// What find_ambient gives while the fiber runs.
const ambient_state* ambient_of_fiber(const fiber& s) noexcept;

/// Was the running fiber's computation cancelled? After a wait; throws `aborted` then.
void leave_if_cancelled(fiber& s);
/// Cancels tasks of bound fibers: `cancelled` was set in each before.
void announce_cancellation(runtime_core& core) noexcept;

}  // namespace sukima::detail
