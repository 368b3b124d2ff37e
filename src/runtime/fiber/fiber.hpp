// SPDX-License-Identifier: Apache-2.0
// A fiber: a C stack and a choice stack. One worker runs it at a time, and it may move between workers.
//
// Two rules say which threads may touch a fiber:
//   - The worker that runs it (`on`), or a helper that holds it while it is suspended (suspend.hpp), may
//     touch everything.
//   - Any thread may touch the members below "Written by others", and may call `limit.request_poll()`. That
//     holds even after the fiber was given back, because the runtime keeps the memory of fibers until it
//     ends.
// A fiber that a worker leaves becomes available to other workers only in `then` of switch_to (switch.hpp),
// which runs on the stack that was switched to. Before that the fiber's registers are not saved.
#pragma once

#include "choice/known_steps.hpp"
#include "choice/poll_limit.hpp"
#include "fiber/exception_state.hpp"
#include "shared/shortage.hpp"
#include "steal/publication_slots.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/detail/task.hpp>
#include <sukima/settings.hpp>

#include <boost/context/detail/fcontext.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sukima::detail {

struct worker;
struct runtime_core;
struct cancel_action;
class executor;
struct fiber_label;
class fiber_pool;
class rest_check;
struct placed;
class covered_segment;
struct traced_clones;

/// The stage of a fiber's suspension (suspend.hpp).
enum class suspension_stage : std::uint8_t {
  running,
  suspending,
  suspended,
  splitting,
  splitting_and_resumed
};
/// A stage, and the number of the suspension to which it belongs, in one word.
struct suspension_word {
  std::uint64_t bits = 0;
  static constexpr suspension_word make(std::uint64_t number, suspension_stage stage) noexcept {
    return {number << 8 | static_cast<std::uint64_t>(stage)};
  }
  constexpr suspension_stage stage() const noexcept { return static_cast<suspension_stage>(bits & 0xff); }
  constexpr std::uint64_t number() const noexcept { return bits >> 8; }
};

struct fiber {
  // The assembly of keep_registers.cpp finds these by their offset.
  choice_point* lets_pass = nullptr;  ///< its polls do nothing (unannounced.hpp); null: no choice point's
  choice_point* ignored = nullptr;  ///< the choice point whose polls did nothing, or were ignored
  std::uint64_t passes_left = 0;  ///< the number of polls of `lets_pass` that still do nothing

  // Set once, when the fiber is made.
  runtime_core* runtime = nullptr;
  poll_limit limit;
  ambient_state* ambient = nullptr;  ///< its ambient context
  char* base = nullptr;  ///< first byte of its choice stack
  char* choice_end = nullptr;  ///< one past the last
  char* stack_top = nullptr;  ///< its C stack grows downward from here
  std::size_t stack_size = 0;
  std::size_t guard = 0;  ///< bytes below its C stack that belong to no stack
  bool small = false;  ///< it shares its gate with other fibers
  bool switches_shortly = false;  ///< it is bound, and switch_within may be used
  bool canary = false;  ///< canary bytes instead of a guard page are below its C stack (fault.hpp)

  // Written by the worker that runs it.
  char* oldest = nullptr;  ///< no choice point of this segment below it has work
  char* clean_from = nullptr;  ///< all choice points from here on are untouched; `oldest` ≤ `clean_from`
  known_steps steps;  ///< of this segment, while they are remembered
  task* running = nullptr;  ///< the task of this segment
  placed* innermost = nullptr;  ///< the youngest frame of this segment with a hint; null: none
  std::uint32_t hinted_frames = 0;  ///< number of frames with a hint that have ever begun here
  /// Choice points below this poll slowly while the work waits until it may be exchanged (place/hints.hpp).
  char* early_poll = nullptr;
  char* segment = nullptr;  ///< where the choice points of this segment begin
  covered_segment* oldest_covered =
      nullptr;  ///< below this segment, perhaps with work (choice/covered_segment.hpp)
  covered_segment* newest_covered = nullptr;
  task* first = nullptr;  ///< the first task of a fresh fiber
  worker* on = nullptr;  ///< the worker that runs it
  std::uint64_t retry_at = 0;  ///< no backtracking before this tick: the last one found nothing to split
  /// Tick at which a root began here; 0: not a root, or long ago. Written by its own thread. Thieves read it
  /// and leave very young roots alone (steal_from). A stale value costs no more than a steal.
  /// no partner: a hint
  std::atomic<std::uint64_t> entered_at{0};
  /// Whether its root is expected to end at once (short_roots.hpp): the first poll of its first fork is
  /// ignored.
  bool is_short_root = false;
  /// Whether no other thread can find it yet, and `first` runs on it (unannounced.hpp). no partner: only the
  /// thread that runs the fiber acts on it. Another thread that has the fiber's address may read it, but
  /// ignores it
  std::atomic<bool> unannounced{false};
  bool is_reset = false;  ///< it is as after reset(), except for members that an unannounced root may change
  traced_clones* clones = nullptr;  ///< where the last clone began; null: nothing is traced
  /// Tick since which a worker waits for work that a clone does not have; 0: no worker waits
  /// (choice/clone.cpp). A stale value makes the next clone begin a new wait, or give work away too early.
  std::uint64_t unserved_since = 0;
  /// Amount of work that a thief may take, by the task's own measure. no partner: a hint for thieves
  std::atomic<float> weight{1};
  ambient_state small_ambient{};  ///< the ambient context, if the gate is shared
  bool abort_pending = false;  ///< an abort affects it: polls at joins check whether they must leave
  /// Choice points below it are older than any destructor that runs during unwinding; null: not known.
  char* before_unwinding = nullptr;
  /// Exception that a user's callback threw while the fiber was backtracking. The next join outside any
  /// unwinding throws it. It is dropped if another exception has left its choice point before (abandon).
  std::exception_ptr failure;
  char* failed_at = nullptr;  ///< the oldest choice point that the failure affects
  /// The oldest loop that was ended early because of the failure; all ones: none, or `failure` is null. Code
  /// that catches the failure within that loop receives it again at the next join. Otherwise the rest of the
  /// loop would be missing without an error.
  char* oldest_ended_loop = all_ones;
  unsigned thread_bindings = 0;  ///< it must not leave its thread while this is not 0
  /// Whether it waits on its thread for a call that another fiber makes, while it holds its executor's token.
  bool keeps_token = false;

  // Written by others.
  /// Set if a task was taken, so the fiber should publish again. Set before request_poll.
  /// pairs with: publishes_more in publish.cpp; steal_from in find_work.cpp; answer in remote_interface.cpp
  alignas(64) atomic<bool> publish_wanted{false};
  publication_slots published;
  /// Changed by CAS by the fiber itself, the thread that resumes it, and helpers (suspend.hpp).
  /// pairs with: change, after_suspend, hold_suspended, let_go_suspended, try_resume in suspend.cpp
  atomic<suspension_word> suspension{};
  /// Set if an abort that may affect this fiber was written while the fiber was not `suspended`
  /// (cancel/suspensions.hpp).
  /// pairs with: cancel_those_concerned, cancel_in_place in suspensions.cpp; after_suspend in suspend.cpp;
  /// split_one in splittable_fibers.cpp
  atomic<bool> cancel_check{false};

  // Used while it does not run.
  boost::context::detail::fcontext_t saved = nullptr;
  exception_state exceptions;
  char* suspended_end =
      nullptr;  ///< one past its youngest choice point, where helpers may split it; null: no work left
  /// Link in the pool's list of free fibers, in the list of fibers whose suspension is cancelled, in its
  /// executor's lists, or in the injector queue.
  fiber* next = nullptr;
  fiber* splittable_next = nullptr;  ///< in the list of splittable fibers, protected by its lock
  bool is_listed_splittable = false;  ///< protected by that lock; the fiber may run again
  const cancel_action* on_cancel = nullptr;  ///< null: its suspension cannot be cancelled
  bool calls_suspender = false;  ///< it runs the function that was passed to suspend
  bool cancel_called = false;  ///< written by the helper that holds the fiber, or by the fiber's own thread
  fiber* listed_before = nullptr;  ///< in the list of cancellable suspensions, protected by its lock
  fiber* listed_after = nullptr;
  /// The worker on which it was listed, or waits in place; protected by the list's lock.
  worker* listed_on = nullptr;
  executor* home = nullptr;  ///< the executor it is bound to; null: every worker may run it
  const fiber_label* label = nullptr;  ///< of its bound_task; null: it has none
  fiber_pool* pool = nullptr;  ///< the pool that owns its memory
  void* tsan_fiber = nullptr;  ///< ThreadSanitizer's handle for it
  void* fake_stack = nullptr;  ///< AddressSanitizer's handle for its fake stack
  bool has_ended = false;  ///< it is bound, and is being left for the last time
  unsigned registered_stack = 0;  ///< valgrind's number for its stack
};

/// Puts a parked fiber that can continue into the queue of its executor, or into the queue that all workers
/// share. Every fiber that becomes runnable passes through this function, unless the caller continues it
/// itself, or it carries its executor's token.
void make_runnable(fiber& s) noexcept;

/// The fiber that owns an address of a choice stack. If the calling thread runs it unannounced, this function
/// announces it.
fiber& fiber_of(const void* in_choice_stack) noexcept;
/// The same for a small fiber.
fiber& small_fiber_at(const void* in_choice_stack) noexcept;
/// The same for any fiber, but does not announce it. For code that reads nothing that other threads may have
/// written.
inline fiber& fiber_at(const void* in_choice_stack) noexcept {
  gate& g = gate_of(in_choice_stack);
  if (!g.shared) [[likely]]
    return *reinterpret_cast<fiber*>(&g + 1);
  return small_fiber_at(in_choice_stack);
}

/// The error if no fiber can be made.
shortage no_fiber();

/// Resets a fiber to the state of one that has never run.
void reset(fiber& used) noexcept;
/// Gives most pages of a fiber that no worker runs back to the kernel, if the fiber used many.
void trim(fiber& s) noexcept;

/// The next choice point above r.
inline choice_point* above(choice_point* r) noexcept {
  return reinterpret_cast<choice_point*>(reinterpret_cast<char*>(r) + kind_of(r)->size);
}

/// Bytes of this kernel's pages: 4 KiB on x86-64; 4, 16 or 64 KiB on aarch64.
std::size_t page_size() noexcept;

/// Guard space of a small fiber. Compilers that probe the stack need at least this much below it (gcc for
/// aarch64 touches a frame every 64 KiB). It takes only address space.
inline constexpr std::size_t small_guard = 64 * 1024;

/// Makes a part of a mapping inaccessible without a mapping of its own (Linux 6.13, pages of 4 KiB).
/// \returns false on other kernels: the part stays accessible
bool install_guard(char* begin, std::size_t size) noexcept;

/// A mapping. It contains this record itself, so freeing it needs no other memory.
struct memory_region {
  void* address;
  std::size_t size;
  memory_region* next;
};

/// Memory of fibers, made by mmap. It is kept until the runtime ends, because another thread may request a
/// poll of a fiber that was given back.
class fiber_pool {
 public:
  /// \param runtime     stored in each fiber, and not used
  /// \param stack_size  of a C stack; the choice stacks have settings::choices
  fiber_pool(runtime_core& runtime, const settings& chosen, std::size_t stack_size);
  ~fiber_pool();
  fiber_pool(const fiber_pool&) = delete;
  fiber_pool& operator=(const fiber_pool&) = delete;

  /// Returns a fresh fiber; null: no memory. May be called by any thread.
  fiber* take();
  /// Takes back a fiber that no worker runs.
  void give(fiber* s) noexcept;
  /// The approximate size of a fiber's C stack, in bytes.
  std::size_t stack_size() const noexcept { return stack_size_; }
  /// Calls of fewer ticks are always short enough for a sequential clone; 0: clones are off.
  std::uint32_t shortest_clone_grain() const noexcept { return shortest_clone_grain_; }
  /// The largest number of fibers that were ever in use at a time.
  std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  friend class rest_check;
  fiber* make_large();
  fiber* make_small();

  runtime_core& runtime_;
  const settings& chosen_;
  const bool small_;
  const std::size_t stack_size_;
  const std::size_t choice_size_;
  const std::uint32_t shortest_clone_grain_;
  std::atomic_flag lock_;  ///< Held for a few instructions. pairs with: take, give
  fiber* free_ = nullptr;
  memory_region* regions_ = nullptr;
  char* slab_next_ = nullptr;
  char* slab_end_ = nullptr;
  std::atomic<std::size_t> in_use_{0};  ///< no partner: statistics only
  std::atomic<std::size_t> peak_{0};  ///< no partner: statistics only
};

}  // namespace sukima::detail
