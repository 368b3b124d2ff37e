// SPDX-License-Identifier: Apache-2.0
// The machine for predictions: threads of guests on virtual CPUs with clocks (hypervisor.hpp).
//
// Each step of a thread and each unit of its work costs time of its vCPU. The thread whose time comes first
// runs next, so an effect never depends on what happens later elsewhere. Waits, time-outs and clocks are in
// simulated time. Nothing is drawn at random: the same program takes the same steps.
//
// In a guest a thread that is ready takes the vCPU that it had last, else any idle one, else the first one
// that is free or whose thread's turn ends. A guest without threads keeps its vCPUs busy for ever.
//
// Thread 0 stands outside: it has no vCPU, and its steps cost nothing. It makes the guests.
//
// Threads are real ones, which run the runtime, or scripts (script.hpp), for other programs.
#pragma once

#include "hypervisor.hpp"
#include "machine.hpp"
#include "script.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

namespace sukima::simulation {

/// Nanoseconds of CPU: docs/simulation.md says where they come from.
struct costs {
  /// Of each kind of step: atomic, protocol, clock, pause, lock, condition, futex, thread.
  std::array<std::uint64_t, step_kinds> of_step{5, 0, 8, 300, 20, 300, 300, 8'000};
  std::uint64_t pause = 40;  ///< the instruction
  std::uint64_t wake = 900;  ///< for the thread that wakes another one
  std::uint64_t wake_up = 2'000;  ///< for the thread that is woken: until it runs
  std::uint64_t thread_switch = 1'000;  ///< in a guest, to another thread than the one before
};

/// The processor ends a loop of pauses of a vCPU, and the hypervisor lets another vCPU run. Nanoseconds.
struct pause_loop_exits {
  std::uint64_t gap = 0;  ///< between two pauses of a loop, at most, without the instruction; 0: no exits
  std::uint64_t window = 1'600;  ///< of such a loop, at most
  std::uint64_t cost = 1'000;  ///< of an exit
  bool in_guest = false;  ///< only a vCPU of the same guest runs instead
  /// vCPUs that have exited come last until the hypervisor chooses them at the end of a slice.
  bool demotes = false;
};

struct laboratory_setup {
  unsigned pcpus = 1;
  scheduling hypervisor;
  costs cost;
  pause_loop_exits exits;
  std::uint64_t turn = 3'000'000;  ///< of a thread, while others of its guest wait for a vCPU
  /// How far a vCPU may run ahead of the last vCPU. It saves changes of real threads.
  std::uint64_t slack = 0;
};

/// What a guest's vCPUs spent their time on.
struct account {
  std::uint64_t work = 0;
  std::array<std::uint64_t, step_kinds> steps{};
  std::uint64_t pauses = 0;
  std::uint64_t waking = 0;
  std::uint64_t waking_up = 0;
  std::uint64_t thread_switches = 0;
  std::uint64_t exiting = 0;
  std::uint64_t sleeps = 0;  ///< waits on a futex or a condition variable
  std::uint64_t exits = 0;  ///< their number
  std::uint64_t costs() const noexcept;  ///< all but the work
};

class laboratory final : public machine {
 public:
  laboratory(const laboratory_setup& setup, const limits& most, hang_handler hangs);

  void step(step_kind kind) noexcept override;
  void pause() noexcept override;
  wake_reason wait(wait_kind kind, const void* awaited, std::uint64_t until) noexcept override;
  thread* wake_one(wait_kind kind, const void* awaited) noexcept override;
  std::uint64_t now() const noexcept override;
  int cpu() const noexcept override;
  void start(thread& created) noexcept override;
  void end() noexcept override;

  /// Thread 0 only.
  std::size_t add_guest(const guest_shape& shape);
  /// All its vCPUs are busy from now on.
  void make_busy(std::size_t guest);
  /// Threads that thread 0 starts belong to this guest from now on. Others belong to that of their creator.
  void start_threads_in(std::size_t guest) noexcept { starts_in_ = guest; }

  /// The calling thread works for so long.
  void work(std::uint64_t nanoseconds) noexcept;

  /// Thread 0 or a script: another thread, which this script describes.
  void start_script(script body);
  /// Thread 0 only.
  void wait_for_scripts();

  // For scripts, after co_await. The script goes on when it is done.

  std::suspend_always works(std::uint64_t nanoseconds);
  /// Waits until the counter has that value.
  std::suspend_always reaches(counter& c, std::uint64_t value, patience before_sleep);
  /// For scripts: adds one. \param wakes  a system call wakes those that sleep until then
  void raise(counter& c, bool wakes);

  const account& account_of(std::size_t guest) const noexcept { return guests_[guest].spent; }
  const hypervisor& pcpus() const noexcept { return hypervisor_; }

 private:
  static constexpr std::size_t nothing = ~std::size_t{0};
  static constexpr std::size_t outside = ~std::size_t{0};

  /// Of a script's wait.
  enum class phase : std::uint8_t {
    looks,  ///< once
    polls,
    enters,  ///< the kernel
    sleeps
  };
  struct inhabitant {
    std::size_t guest = outside;
    std::size_t vcpu = nothing;  ///< it has it now
    std::size_t last_vcpu = nothing;
    std::uint64_t owed = 0;  ///< time until it can go on
    std::uint64_t asked = 0;  ///< the part of it that its vCPU demands
    std::uint64_t turn_left = 0;
    std::uint64_t waits_since = 0;  ///< the order of waits
    std::uint64_t went_on_at = 0;  ///< outside
    script body;  ///< of a script
    counter* awaited = nullptr;
    std::uint64_t awaited_value = 0;
    std::uint64_t patience_left = 0;
    std::uint64_t charged = 0;  ///< while it polls: the part of what it owes that is in the account already
    phase wait = phase::looks;
    bool pauses = false;  ///< while it polls
    bool exits = false;  ///< its loop of pauses has just exited
  };
  struct guest_state {
    guest_shape shape;
    std::deque<std::size_t> ready;  ///< threads
    account spent;
  };
  struct vcpu_state {
    std::size_t thread = nothing;
    std::size_t last_thread = nothing;
    std::uint64_t last_pause = 0;
    std::uint64_t loop_began = 0;  ///< of pauses
  };

  void added(thread& created) override;
  /// Not now(): the thread that finds a hang waits, so it has no vCPU.
  std::uint64_t passed() const noexcept override { return hypervisor_.latest_clock(); }
  /// That thread runs from now on.
  thread& goes_on(std::size_t id) noexcept;
  /// The calling thread uses so much time.
  void spend(std::uint64_t nanoseconds, std::uint64_t& as) noexcept;
  void look_for_loop();
  /// The running vCPU lets another one run after an exit, which its thread has spent or owes.
  bool yield_after_exit();
  void make_ready(std::size_t id, std::uint64_t at);
  std::size_t idle_vcpu(const inhabitant& of) const noexcept;
  void take(std::size_t vcpu, std::size_t id);
  void ask(inhabitant& of) noexcept;
  /// A thread leaves its vCPU, which the next one that is ready has then.
  void give_up(inhabitant& of);
  /// The time of the calling thread's guest that was spent in some way.
  account& own_account() noexcept { return guests_[its_->guest].spent; }
  void end_turn(std::size_t id);
  /// Lets time pass until a thread can go on.
  thread& next_thread(const thread* self) noexcept;
  thread* happen(const hypervisor::event& e);
  void time_out();
  thread& go_outside();
  void find_horizon(const inhabitant& of) noexcept;
  void notice(inhabitant& of) noexcept;
  void run_script(std::size_t id);
  bool stop_waiting();
  void begin_polls(std::uint64_t after) noexcept;
  void end_script();
  void pass_turn() noexcept {
    thread& self = *self_;
    switch_to(self, next_thread(&self));
  }

  const laboratory_setup setup_;
  hypervisor hypervisor_;
  std::vector<guest_state> guests_;
  std::vector<vcpu_state> vcpus_;
  std::deque<inhabitant> inhabitants_;  ///< by the threads' numbers; references stay valid
  std::set<std::pair<std::uint64_t, std::size_t>> timers_;  ///< time-outs of waits
  std::set<std::pair<std::uint64_t, std::size_t>> ready_outside_;
  // The thread that runs, which is faster to find here than by this_thread().
  thread* self_ = nullptr;
  inhabitant* its_ = nullptr;
  std::size_t starts_in_ = outside;
  std::uint64_t waits_ = 0;
  std::uint64_t scripts_left_ = 0;
  std::uint64_t ended_at_ = 0;  ///< when the thread that ends now has ended
  /// While the running thread's clock stays below that, it is its turn. 0: not known.
  std::uint64_t horizon_ = 0;
};

/// The laboratory of this process, for threads of it.
laboratory& the_laboratory() noexcept;

}  // namespace sukima::simulation
