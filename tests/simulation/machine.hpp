// SPDX-License-Identifier: Apache-2.0
// The simulated machine: real threads, of which exactly one runs at a time, and a clock that the machine
// itself advances.
//
// A thread that does not run sleeps on its own futex, its turn. So thread-local variables, exceptions and
// debuggers work as in any program. All interactions between threads of the machine go through it
// (atomics.hpp, threads.cpp, futexes.cpp, clocks.cpp), so the machine alone determines the run. Memory is
// sequentially consistent.
//
// There are two machines. seeded_machine, for tests, makes the schedule from a seed. laboratory, for
// predictions, schedules threads on virtual CPUs with clocks.
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
  initialiser,  ///< pthread_once, which another thread executes
  end  ///< the end of a thread
};

enum class wake_reason : std::uint8_t { woken, timed_out, spurious };

struct thread {
  explicit thread(unsigned number) : id(number) {}

  const unsigned id;  ///< number in the order of creation
  std::string name;
  bool ended = false;
  wait_kind waits_for = wait_kind::nothing;
  const void* awaited = nullptr;
  std::uint64_t until = never;  ///< time-out of the wait
  std::uint64_t not_before = 0;  ///< the schedule has stopped it until then
  wake_reason reason = wake_reason::woken;
  std::int64_t priority = 0;
  std::uint64_t steps = 0;
  int kernel_id = 0;  ///< its number as the owner of a mutex
  int endings = 0;  ///< number of rounds of destructors for its thread-specific data
  std::atomic<std::uint32_t> turn{0};  ///< 1: it may run. pairs with: hand_over, wait_for_turn
};

/// The limits of a run. A run that exceeds one of the first two counts as endless.
struct limits {
  std::uint64_t nanoseconds = 120'000'000'000;  ///< simulated, without jumps of the clock
  std::uint64_t steps = 100'000'000;
  std::uint64_t trap_at = never;  ///< the step at which SIGTRAP is raised, for a debugger
  unsigned patience = 100;  ///< real seconds without a step after which run_isolated kills the process
  std::atomic<std::uint64_t>* progress = nullptr;  ///< stores the number of steps there, unless it is null
  /// If not null, the run makes these choices, and no others of the schedule.
  const choices* plan = nullptr;
  recording* record = nullptr;  ///< stores the schedule's choices there, unless it is null
  bool quiet = false;  ///< for run_isolated: whether the standard error of the run is dropped
};

/// The properties of a run that another run of the same seed must repeat.
struct trace {
  std::uint64_t hash = 0xCBF29CE484222325u;  ///< of all steps and switches in order
  std::uint64_t steps = 0;
  std::uint64_t switches = 0;
  std::uint64_t nanoseconds = 0;
  friend bool operator==(const trace&, const trace&) = default;
};

/// Called with a report if no thread can run, or at a limit. Must not return.
using hang_handler = std::function<void(const std::string&)>;

class machine {
 public:
  machine(const limits& most, hang_handler hangs);
  virtual ~machine() = default;
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  /// Runs the program on the calling thread, which becomes thread 0. Threads that still exist afterwards
  /// never run again. A process may have only one machine.
  trace run(const std::function<void()>& program);

  // For the calling thread, which is the only one that runs.

  /// Takes one step. Another thread may run before it returns.
  virtual void step(step_kind kind) noexcept = 0;
  /// One iteration of a loop that waits without a system call.
  virtual void pause() noexcept = 0;
  /// Waits until another thread wakes it, that time has come, or the schedule wakes it spuriously.
  virtual wake_reason wait(wait_kind kind, const void* awaited, std::uint64_t until) noexcept = 0;
  /// Wakes at most `most` threads that wait for the object. \returns their number
  unsigned wake(wait_kind kind, const void* awaited, unsigned most) noexcept;
  /// Wakes one thread that waits for the object; null: no thread waits for it.
  virtual thread* wake_one(wait_kind kind, const void* awaited) noexcept = 0;
  /// Returns the number of threads that wait for the object.
  virtual unsigned waiting(wait_kind kind, const void* awaited) noexcept;
  virtual std::uint64_t now() const noexcept = 0;
  /// The CPU on which the calling thread runs.
  virtual int cpu() const noexcept = 0;
  /// Whether a thread with that number exists and has not ended.
  bool is_alive(std::uint64_t id) const noexcept { return id < threads_.size() && !threads_[id]->ended; }
  /// Turns off spurious wake-ups from now on.
  virtual void end_spurious_wake_ups() noexcept {}

  /// Adds a thread. If the real thread starts, the caller must call start(), and otherwise remove_thread().
  thread& add_thread();
  void remove_thread() noexcept { threads_.pop_back(); }
  /// Allows the thread to begin when it gets its turn.
  virtual void start(thread& /*created*/) noexcept {}
  /// Called by a new thread when it begins.
  void begin(thread& self) noexcept;
  /// Ends the calling thread. Another thread runs from now on.
  virtual void end() noexcept = 0;

 protected:
  /// Called for each thread that is added.
  virtual void added(thread& created) = 0;
  /// Counts a step in the trace. Ends the run at its limit of steps.
  void count(thread& self, step_kind kind) noexcept;
  /// Ends the calling thread, and lets another one run.
  void leave_to(thread& next) noexcept;
  void switch_to(thread& from, thread& to) noexcept;
  [[noreturn]] void hang(const char* why) noexcept;
  /// Records that the calling thread no longer belongs to the machine.
  static thread& forget_this_thread() noexcept;

  const limits most_;
  std::vector<std::unique_ptr<thread>> threads_;
  trace trace_;
  std::uint64_t last_switch_ = 0;  ///< trace_.steps at the last switch

 private:
  /// Simulated nanoseconds, without jumps of the clock.
  virtual std::uint64_t passed() const noexcept { return now(); }
  static void hand_over(thread& to) noexcept;
  static void wait_for_turn(thread& self) noexcept;

  const hang_handler hangs_;
};

/// The machine's thread that calls this; null: another thread, or the machine does not run.
thread* this_thread() noexcept;
/// The machine of this process, for its threads.
machine& the_machine() noexcept;

}  // namespace sukima::simulation
