// SPDX-License-Identifier: Apache-2.0
// The simulated machine: real threads, of which exactly one runs at a time, and a clock that the machine
// itself advances.
//
// A thread that does not run sleeps on a futex of its own, its turn. So thread-local variables, exceptions
// and debuggers work as they do in any program. All that threads of the machine do to each other goes through
// it (atomics.hpp, threads.cpp, futexes.cpp, clocks.cpp). So the machine alone decides the run. Memory is
// sequentially consistent.
//
// There are two machines: a seed makes the schedule of seeded_machine, for tests; laboratory schedules
// threads on virtual CPUs with clocks, for predictions.
#pragma once

#include "choices.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sukima::simulation {

inline constexpr std::uint64_t never = ~std::uint64_t{0};

/// The kinds of steps. Each costs some simulated nanoseconds.
enum class step_kind : std::uint8_t { atomic, protocol, clock, pause, lock, condition, futex, thread };
inline constexpr std::size_t step_kinds = 8;

/// The kinds of waits.
enum class wait_kind : std::uint8_t {
  nothing,
  time,
  mutex,
  condition,
  word,  ///< a futex
  loan,  ///< a futex with an owner (FUTEX_LOCK_PI)
  initialiser,  ///< pthread_once on another thread
  end  ///< of a thread
};

enum class wake_reason : std::uint8_t { woken, timed_out, spurious };

struct thread {
  explicit thread(unsigned number) : id(number) {}

  const unsigned id;  ///< in the order of creation
  std::string name;
  bool ended = false;
  wait_kind waits_for = wait_kind::nothing;
  const void* awaited = nullptr;
  std::uint64_t until = never;  ///< time-out of the wait
  std::uint64_t not_before = 0;  ///< the schedule stopped it until then
  wake_reason reason = wake_reason::woken;
  std::int64_t priority = 0;
  std::uint64_t steps = 0;
  int kernel_id = 0;  ///< as the owner of a mutex
  int endings = 0;  ///< rounds of destructors of its thread-specific data
  std::atomic<std::uint32_t> turn{0};  ///< 1: it may run. pairs with: hand_over, wait_for_turn
};

/// Where a run stops. Beyond the first two limits it counts as one without an end.
struct limits {
  std::uint64_t nanoseconds = 120'000'000'000;  ///< simulated, without the clock's jumps
  std::uint64_t steps = 100'000'000;
  std::uint64_t trap_at = never;  ///< the step that raises SIGTRAP, for a debugger
  unsigned patience = 100;  ///< real seconds without a step, after which run_isolated kills the process
  std::atomic<std::uint64_t>* progress = nullptr;  ///< receives the number of steps, unless it is null
  /// The run makes these choices, and no others of the schedule. Null: the schedule's own.
  const choices* plan = nullptr;
  recording* record = nullptr;  ///< receives the schedule's choices, unless it is null
  bool quiet = false;  ///< run_isolated: what the run prints on standard error is dropped
};

/// Everything about a run that the same seed must repeat.
struct trace {
  std::uint64_t hash = 0xCBF29CE484222325u;  ///< of all steps and switches in order
  std::uint64_t steps = 0;
  std::uint64_t switches = 0;
  std::uint64_t nanoseconds = 0;
  friend bool operator==(const trace&, const trace&) = default;
};

/// Called with a report when no thread can run, or at a limit. It must not return.
using hang_handler = std::function<void(const std::string&)>;

class machine {
 public:
  machine(const limits& most, hang_handler hangs);
  virtual ~machine() = default;
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  /// Runs the program on the calling thread, which becomes thread 0. Threads that it leaves behind never run
  /// again. A process has one machine at most.
  trace run(const std::function<void()>& program);

  // For the calling thread, the only one that runs.

  /// One step, after which another thread may have run.
  virtual void step(step_kind kind) noexcept = 0;
  /// One turn of a loop that waits without a system call.
  virtual void pause() noexcept = 0;
  /// Waits until another thread wakes it, the time has come, or, if the schedule wants it, for no reason.
  virtual wake_reason wait(wait_kind kind, const void* awaited, std::uint64_t until) noexcept = 0;
  /// Wakes up to that many threads that wait for that. Returns how many.
  unsigned wake(wait_kind kind, const void* awaited, unsigned most) noexcept;
  /// Wakes one of them; null: no thread waits for that.
  virtual thread* wake_one(wait_kind kind, const void* awaited) noexcept = 0;
  /// The number of threads that wait for that.
  virtual unsigned waiting(wait_kind kind, const void* awaited) noexcept;
  virtual std::uint64_t now() const noexcept = 0;
  /// The CPU that the calling thread runs on.
  virtual int cpu() const noexcept = 0;
  /// Whether there is such a thread that has not ended.
  bool is_alive(std::uint64_t id) const noexcept { return id < threads_.size() && !threads_[id]->ended; }
  /// From now on no thread wakes for no reason.
  virtual void end_spurious_wake_ups() noexcept {}

  /// A new thread. If the real one starts, start() follows, else remove_thread().
  thread& add_thread();
  void remove_thread() noexcept { threads_.pop_back(); }
  /// It begins when its turn comes.
  virtual void start(thread& /*created*/) noexcept {}
  /// Called by a new thread at its beginning.
  void begin(thread& self) noexcept;
  /// The calling thread ends: another one runs from now on.
  virtual void end() noexcept = 0;

 protected:
  /// Called for each thread that is added.
  virtual void added(thread& created) = 0;
  /// Counts a step in the trace. Ends the run at its limit of steps.
  void count(thread& self, step_kind kind) noexcept;
  /// The calling thread has ended, and another one runs from now on.
  void leave_to(thread& next) noexcept;
  void switch_to(thread& from, thread& to) noexcept;
  [[noreturn]] void hang(const char* why) noexcept;
  /// Marks the calling thread as one that is not of the machine any more.
  static thread& forget_this_thread() noexcept;

  const limits most_;
  std::vector<std::unique_ptr<thread>> threads_;
  trace trace_;
  std::uint64_t last_switch_ = 0;  ///< trace_.steps then

 private:
  /// Simulated nanoseconds without the clock's jumps.
  virtual std::uint64_t passed() const noexcept { return now(); }
  static void hand_over(thread& to) noexcept;
  static void wait_for_turn(thread& self) noexcept;

  const hang_handler hangs_;
};

/// The thread of the machine that calls; null: another one, or the machine does not run.
thread* this_thread() noexcept;
/// The machine of this process, for threads of it.
machine& the_machine() noexcept;

}  // namespace sukima::simulation
