// SPDX-License-Identifier: Apache-2.0
// The machine for predictions: threads of guests run on virtual CPUs with clocks (hypervisor.hpp).
//
// Each step of a thread and each unit of its work costs time of its vCPU. The thread with the earliest time
// runs next, so an effect never depends on later events on other vCPUs. Waits, time-outs and clocks use
// simulated time. Nothing is random: the same program takes the same steps.
//
// In a guest, a ready thread takes its last vCPU, or else any idle vCPU, or else the first vCPU that becomes
// free or whose thread's turn ends. A guest without threads keeps its vCPUs busy for ever.
//
// Thread 0 is outside all guests: it has no vCPU, and its steps cost nothing. It makes the guests.
//
// Threads are either real threads, which run the runtime, or scripts (script.hpp), for other programs.
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

/// Costs in nanoseconds of CPU. docs/simulation.md states their sources.
struct costs {
  /// By kind of step: atomic, protocol, clock, pause, lock, condition, futex, thread.
  std::array<std::uint64_t, step_kinds> of_step{5, 0, 8, 300, 20, 300, 300, 8'000};
  std::uint64_t pause = 40;  ///< of the pause instruction
  std::uint64_t wake = 900;  ///< of the thread that wakes another one
  std::uint64_t wake_up = 2'000;  ///< of the woken thread, until it runs
  std::uint64_t thread_switch = 1'000;  ///< within a guest, when another thread runs on a vCPU than before
};

/// Pause-loop exits: the processor ends a vCPU's loop of pauses, and the hypervisor runs another vCPU. Times
/// are in nanoseconds.
struct pause_loop_exits {
  std::uint64_t gap = 0;  ///< longest time between two pauses of a loop, without the instruction; 0: no exits
  std::uint64_t window = 1'600;  ///< longest time of such a loop
  std::uint64_t cost = 1'000;  ///< of an exit
  bool in_guest = false;  ///< whether only a vCPU of the same guest runs instead
  /// Whether vCPUs that have exited come last until the hypervisor chooses them at the end of a slice.
  bool demotes = false;
};

struct laboratory_setup {
  unsigned pcpus = 1;
  scheduling hypervisor;
  costs cost;
  pause_loop_exits exits;
  std::uint64_t turn = 3'000'000;  ///< of a thread, while others of its guest wait for a vCPU
  /// How far a vCPU may run ahead of the slowest vCPU. More slack means fewer switches between real threads.
  std::uint64_t slack = 0;
};

/// The time of a guest's vCPUs, by its use.
struct account {
  std::uint64_t work = 0;
  std::array<std::uint64_t, step_kinds> steps{};
  std::uint64_t pauses = 0;
  std::uint64_t waking = 0;
  std::uint64_t waking_up = 0;
  std::uint64_t thread_switches = 0;
  std::uint64_t exiting = 0;
  std::uint64_t sleeps = 0;  ///< number of waits on a futex or a condition variable
  std::uint64_t exits = 0;  ///< number of exits
  std::uint64_t costs() const noexcept;  ///< all except the work
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

  /// Only for thread 0.
  std::size_t add_guest(const guest_shape& shape);
  /// Makes all vCPUs of a guest busy from now on.
  void make_busy(std::size_t guest);
  /// Assigns the threads that thread 0 starts from now on to this guest. Other threads belong to the guest of
  /// their creator.
  void start_threads_in(std::size_t guest) noexcept { starts_in_ = guest; }

  /// Lets the calling thread work for that time.
  void work(std::uint64_t nanoseconds) noexcept;

  /// Starts another thread, which the script describes. For thread 0 and for scripts.
  void start_script(script body);
  /// Only for thread 0.
  void wait_for_scripts();

  // For scripts, after co_await. The script continues when the operation is complete.

  std::suspend_always works(std::uint64_t nanoseconds);
  /// Waits until the counter has that value.
  std::suspend_always reaches(counter& c, std::uint64_t value, patience before_sleep);
  /// For scripts: adds one to the counter. \param wakes  whether a system call wakes the threads that sleep
  /// for it
  void raise(counter& c, bool wakes);

  const account& account_of(std::size_t guest) const noexcept { return guests_[guest].spent; }
  const hypervisor& pcpus() const noexcept { return hypervisor_; }

 private:
  static constexpr std::size_t nothing = ~std::size_t{0};
  static constexpr std::size_t outside = ~std::size_t{0};

  /// The phases of a script's wait.
  enum class phase : std::uint8_t {
    looks,  ///< checks the counter once
    polls,
    enters,  ///< enters the kernel
    sleeps
  };
  struct inhabitant {
    std::size_t guest = outside;
    std::size_t vcpu = nothing;  ///< the vCPU that it has now
    std::size_t last_vcpu = nothing;
    std::uint64_t owed = 0;  ///< time until it can continue
    std::uint64_t asked = 0;  ///< the part of `owed` that its vCPU demands
    std::uint64_t turn_left = 0;
    std::uint64_t waits_since = 0;  ///< number in the order of all waits
    std::uint64_t went_on_at = 0;  ///< if it is outside: when it continued
    script body;  ///< if it is a script
    counter* awaited = nullptr;
    std::uint64_t awaited_value = 0;
    std::uint64_t patience_left = 0;
    std::uint64_t charged = 0;  ///< while it polls: the part of `owed` that is already in the account
    phase wait = phase::looks;
    bool pauses = false;  ///< while it polls: whether it executes pauses
    bool exits = false;  ///< whether its loop of pauses has just exited
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
    std::uint64_t loop_began = 0;  ///< of the present loop of pauses
  };

  void added(thread& created) override;
  /// Not now(), because the thread that finds a hang waits and has no vCPU.
  std::uint64_t passed() const noexcept override { return hypervisor_.latest_clock(); }
  /// Makes that thread the running one.
  thread& goes_on(std::size_t id) noexcept;
  /// Lets the calling thread use that much time. \param as  the account's member for it
  void spend(std::uint64_t nanoseconds, std::uint64_t& as) noexcept;
  void look_for_loop();
  /// Lets another vCPU run instead of the running one after an exit, whose cost its thread has spent or owes.
  bool yield_after_exit();
  void make_ready(std::size_t id, std::uint64_t at);
  std::size_t idle_vcpu(const inhabitant& of) const noexcept;
  void take(std::size_t vcpu, std::size_t id);
  void ask(inhabitant& of) noexcept;
  /// Takes the vCPU from a thread, and gives it to the next ready thread.
  void give_up(inhabitant& of);
  /// The account of the calling thread's guest.
  account& own_account() noexcept { return guests_[its_->guest].spent; }
  void end_turn(std::size_t id);
  /// Advances the time until a thread can continue.
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
  std::deque<inhabitant> inhabitants_;  ///< by number of thread; references stay valid
  std::set<std::pair<std::uint64_t, std::size_t>> timers_;  ///< time-outs of waits
  std::set<std::pair<std::uint64_t, std::size_t>> ready_outside_;
  // The running thread. Faster than a call of this_thread().
  thread* self_ = nullptr;
  inhabitant* its_ = nullptr;
  std::size_t starts_in_ = outside;
  std::uint64_t waits_ = 0;
  std::uint64_t scripts_left_ = 0;
  std::uint64_t ended_at_ = 0;  ///< when the thread that is ending now has ended
  /// The running thread need not be switched while its clock is below this time. 0: unknown.
  std::uint64_t horizon_ = 0;
};

/// The laboratory of this process, for its threads.
laboratory& the_laboratory() noexcept;

}  // namespace sukima::simulation
