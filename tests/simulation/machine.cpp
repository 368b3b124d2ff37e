// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include "atomics.hpp"
#include "real_calls.hpp"
#include "report.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace sukima::simulation {

namespace {

thread_local thread* self_or_null = nullptr;
machine* running = nullptr;

}  // namespace

// Not inlined: the address of a thread-local variable must not be kept, because fibers move between threads.
[[gnu::noinline]] thread* this_thread() noexcept { return self_or_null; }
machine& the_machine() noexcept { return *running; }

void atomic_step() noexcept {
  if (this_thread() != nullptr) running->step(step_kind::atomic);
}

void pause_cpu() noexcept {
  if (this_thread() != nullptr) running->pause();
}

machine::machine(const limits& most, hang_handler hangs) : most_(most), hangs_(std::move(hangs)) {}

trace machine::run(const std::function<void()>& program) {
  running = this;
  thread& first = add_thread();
  first.name = "main";
  first.kernel_id = static_cast<int>(real_syscall(SYS_gettid));
  self_or_null = &first;
  program();
  trace_.nanoseconds = now();
  self_or_null = nullptr;
  return trace_;
}

void machine::count(thread& self, step_kind kind) noexcept {
  ++self.steps;
  ++trace_.steps;
  trace_.hash = (trace_.hash ^ (self.id * 16 + static_cast<unsigned>(kind))) * 0x100000001B3u;
  if (most_.record != nullptr) most_.record->set_steps(self.id, self.steps);
  if (most_.progress != nullptr) most_.progress->store(trace_.steps, std::memory_order_relaxed);
  if (trace_.steps == most_.trap_at) std::raise(SIGTRAP);
  if (trace_.steps > most_.steps) hang("so many steps without an end");
}

unsigned machine::wake(wait_kind kind, const void* awaited, unsigned most) noexcept {
  unsigned woken = 0;
  while (woken < most && wake_one(kind, awaited) != nullptr) ++woken;
  return woken;
}

unsigned machine::waiting(wait_kind kind, const void* awaited) noexcept {
  return static_cast<unsigned>(std::ranges::count_if(
      threads_, [&](const auto& t) { return t->waits_for == kind && t->awaited == awaited; }));
}

void machine::switch_to(thread& from, thread& to) noexcept {
  if (&from == &to) return;
  const int error = errno;
  last_switch_ = trace_.steps;
  ++trace_.switches;
  trace_.hash = (trace_.hash ^ (to.id * 16 + 15)) * 0x100000001B3u;
  hand_over(to);
  wait_for_turn(from);
  errno = error;
}

void machine::leave_to(thread& next) noexcept {
  ++trace_.switches;
  hand_over(next);
}

void machine::hand_over(thread& to) noexcept {
  to.turn.store(1, std::memory_order_release);
  real_syscall(SYS_futex, &to.turn, FUTEX_WAKE_PRIVATE, 1);
}

void machine::wait_for_turn(thread& self) noexcept {
  while (self.turn.exchange(0, std::memory_order_acquire) == 0)
    real_syscall(SYS_futex, &self.turn, FUTEX_WAIT_PRIVATE, 0, nullptr);
}

thread& machine::add_thread() {
  threads_.push_back(std::make_unique<thread>(static_cast<unsigned>(threads_.size())));
  added(*threads_.back());
  return *threads_.back();
}

void machine::begin(thread& self) noexcept {
  // Until its first turn it runs beside another thread, so it is not yet a thread of the machine.
  self.kernel_id = static_cast<int>(real_syscall(SYS_gettid));
  wait_for_turn(self);
  self_or_null = &self;
}

thread& machine::forget_this_thread() noexcept { return *std::exchange(self_or_null, nullptr); }

void machine::hang(const char* why) noexcept {
  hangs_(describe_hang(why, passed(), trace_.steps, threads_));
  std::abort();
}

}  // namespace sukima::simulation
