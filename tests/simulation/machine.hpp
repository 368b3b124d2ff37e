// SPDX-License-Identifier: Apache-2.0
// The simulated machine: real threads, of which exactly one runs at a time, and a clock that the machine
// itself advances. At each step a schedule made from a seed decides whether another thread continues.
//
// A thread that does not run sleeps on a futex of its own, its turn. So thread-local variables, exceptions
// and debuggers work as they do in any program. All that threads of the machine do to each other goes through
// it (atomics.hpp, threads.cpp, futexes.cpp, clocks.cpp), so the seed alone decides the run. Memory is
// sequentially consistent.
#pragma once

#include "choices.hpp"
#include "schedule.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sukima::simulation {

inline constexpr std::uint64_t never = ~std::uint64_t{0};

/// The kinds of steps. Each costs some simulated nanoseconds.
enum class step_kind : std::uint8_t { atomic, protocol, clock, pause, lock, condition, futex, thread };

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

class machine {
 public:
  /// \param hangs called with a report when no thread can run, or at a limit; it must not return
  machine(std::uint64_t seed, const limits& most, std::function<void(const std::string&)> hangs);
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  /// Runs the program on the calling thread, which becomes thread 0. Threads that it leaves behind never run
  /// again. A process has one machine at most.
  trace run(const std::function<void()>& program);

  // For the calling thread, the only one that runs.

  /// One step, after which another thread may have run.
  void step(step_kind kind) noexcept;
  /// Waits until another thread wakes it, the time has come, or, if the schedule wants it, for no reason.
  wake_reason wait(wait_kind kind, const void* awaited, std::uint64_t until) noexcept;
  /// Wakes up to that many threads that wait for that, in any order. Returns how many.
  unsigned wake(wait_kind kind, const void* awaited, unsigned most) noexcept;
  /// Wakes one of them; null: no thread waits for that.
  thread* wake_one(wait_kind kind, const void* awaited) noexcept;
  /// The number of threads that wait for that.
  unsigned waiting(wait_kind kind, const void* awaited) noexcept;
  std::uint64_t now() const noexcept { return now_; }
  /// Whether there is such a thread that has not ended.
  bool is_alive(std::uint64_t id) const noexcept { return id < threads_.size() && !threads_[id]->ended; }

  /// From now on no thread wakes for no reason.
  void end_spurious_wake_ups() noexcept {
    schedule_.end_spurious_wake_ups();
    may_disturb_ = false;
  }

  /// A new thread, which begins when its turn comes.
  thread& add_thread();
  /// The last thread that was added could not be started.
  void remove_thread() noexcept { threads_.pop_back(); }
  /// Called by a new thread at its beginning.
  void begin(thread& self) noexcept;
  /// The calling thread ends: another one runs from now on.
  void end() noexcept;

 private:
  void count(thread& self, step_kind kind) noexcept;
  void decide(thread& self) noexcept;
  void follow_plan(thread& self) noexcept;
  void give_way(thread& self) noexcept;
  void jump(thread& self, std::uint64_t nanoseconds) noexcept;
  void stop(thread& self, std::uint64_t nanoseconds) noexcept;
  void wake_spuriously(thread& self) noexcept;
  void disturb(thread& woken) noexcept;
  void note(const thread& self, choice::kind kind, std::uint64_t value) noexcept;
  std::optional<std::uint64_t> planned(const thread& self, choice::kind kind) noexcept;
  /// The next thread to run, at the time when one can. \param without  runs only if no other thread can
  /// \param preferred  the planned choice, if it was taken from the plan already
  thread& choose(const thread& self, choice::kind kind, const thread* without = nullptr,
                 std::optional<std::uint64_t> preferred = {}) noexcept;
  thread& choose_candidate(const thread& self, choice::kind kind,
                           std::optional<std::uint64_t> preferred = {}) noexcept;
  void time_out_waits() noexcept;
  std::uint64_t next_event() const noexcept;
  void pass_time(std::uint64_t nanoseconds) noexcept;
  void switch_to(thread& from, thread& to) noexcept;
  static void hand_over(thread& to) noexcept;
  static void wait_for_turn(thread& self) noexcept;
  [[noreturn]] void hang(const char* why) noexcept;

  schedule schedule_;
  const limits most_;
  std::optional<plan> plan_;
  bool may_disturb_ = true;
  const std::function<void(const std::string&)> hangs_;
  std::vector<std::unique_ptr<thread>> threads_;
  std::vector<thread*> candidates_;
  trace trace_;
  std::uint64_t now_ = 0;
  std::uint64_t jumped_ = 0;  ///< part of now_
  std::uint64_t until_decision_ = 1;
  std::uint64_t last_switch_ = 0;  ///< trace_.steps then
  std::int64_t lowest_priority_ = 0;
};

/// The thread of the machine that calls; null: another one, or the machine does not run.
thread* this_thread() noexcept;
/// The machine of this process, for threads of it.
machine& the_machine() noexcept;

}  // namespace sukima::simulation
