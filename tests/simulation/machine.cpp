// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include "atomics.hpp"
#include "real_calls.hpp"
#include "report.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace sukima::simulation {

namespace {

/// Simulated nanoseconds of each kind of step. A pause costs more than it does anywhere, so that loops that
/// wait do not take most of a run's steps.
constexpr std::array<std::uint64_t, 8> costs{20, 40, 30, 2000, 50, 200, 300, 1000};

/// Steps in a row after which a thread with a high priority loses it: it may wait for another one.
constexpr std::uint64_t longest_turn = 4000;

thread_local thread* self_or_null = nullptr;
machine* running = nullptr;

bool can_run(const thread& t, std::uint64_t now) noexcept {
  return !t.ended && t.waits_for == wait_kind::nothing && t.not_before <= now;
}

}  // namespace

// The address of a thread-local variable must not be kept while fibers move, so these stay out of line.
[[gnu::noinline]] thread* this_thread() noexcept { return self_or_null; }
machine& the_machine() noexcept { return *running; }

void atomic_step() noexcept {
  if (this_thread() != nullptr) running->step(step_kind::atomic);
}

machine::machine(std::uint64_t seed, const limits& most, std::function<void(const std::string&)> hangs)
    : schedule_(seed), most_(most), hangs_(std::move(hangs)) {
  if (most.plan != nullptr) plan_.emplace(*most.plan);
}

trace machine::run(const std::function<void()>& program) {
  running = this;
  thread& first = add_thread();
  first.name = "main";
  first.kernel_id = static_cast<int>(real_syscall(SYS_gettid));
  self_or_null = &first;
  program();
  self_or_null = nullptr;
  trace_.nanoseconds = now_;
  return trace_;
}

void machine::count(thread& self, step_kind kind) noexcept {
  ++self.steps;
  ++trace_.steps;
  trace_.hash = (trace_.hash ^ (self.id * 16 + static_cast<unsigned>(kind))) * 0x100000001B3u;
  pass_time(costs[static_cast<std::size_t>(kind)] * schedule_.drawn().pace);
  if (most_.record != nullptr) most_.record->set_steps(self.id, self.steps);
  if (most_.progress != nullptr) most_.progress->store(trace_.steps, std::memory_order_relaxed);
  if (trace_.steps == most_.trap_at) std::raise(SIGTRAP);
  if (trace_.steps > most_.steps) hang("so many steps without an end");
}

void machine::pass_time(std::uint64_t nanoseconds) noexcept {
  now_ += nanoseconds;
  if (now_ - jumped_ > most_.nanoseconds) hang("so much time without an end");
}

void machine::step(step_kind kind) noexcept {
  thread& self = *this_thread();
  count(self, kind);
  if (kind == step_kind::pause)
    give_way(self);
  else if (plan_)
    follow_plan(self);
  else if (--until_decision_ == 0)
    decide(self);
}

void machine::decide(thread& self) noexcept {
  until_decision_ = schedule_.next_gap();
  if (const std::uint64_t length = schedule_.next_jump(); length != 0) jump(self, length);
  if (schedule_.wakes_spuriously()) wake_spuriously(self);
  if (const std::uint64_t length = schedule_.next_stop(); length != 0) stop(self, length);
  if (schedule_.lowers_priority() || trace_.steps - last_switch_ > longest_turn)
    self.priority = --lowest_priority_;
  switch_to(self, choose(self, choice::kind::preempts));
}

void machine::follow_plan(thread& self) noexcept {
  if (const auto length = planned(self, choice::kind::jumps)) jump(self, *length);
  if (const auto id = planned(self, choice::kind::disturbs); id && *id < threads_.size() && may_disturb_)
    disturb(*threads_[*id]);
  if (const auto length = planned(self, choice::kind::stops)) stop(self, *length);
  const auto next = planned(self, choice::kind::preempts);
  if (next && *next < threads_.size()) {
    time_out_waits();  // as the schedule did before it chose
    if (can_run(*threads_[*next], now_)) return switch_to(self, *threads_[*next]);
  }
  // Where no thread can run, time passes first; the planned one is chosen after that.
  if (!can_run(self, now_) || trace_.steps - last_switch_ > longest_turn)
    switch_to(self, choose(self, choice::kind::preempts, nullptr, next));
}

/// The thread waits in a loop: another one must run.
void machine::give_way(thread& self) noexcept {
  self.priority = --lowest_priority_;
  switch_to(self, choose(self, choice::kind::follows, &self));
}

void machine::jump(thread& self, std::uint64_t nanoseconds) noexcept {
  note(self, choice::kind::jumps, nanoseconds);
  now_ += nanoseconds;
  jumped_ += nanoseconds;
}

void machine::stop(thread& self, std::uint64_t nanoseconds) noexcept {
  note(self, choice::kind::stops, nanoseconds);
  self.not_before = now_ + nanoseconds;
}

void machine::wake_spuriously(thread& self) noexcept {
  time_out_waits();
  candidates_.clear();
  for (const auto& t : threads_)
    if (t->waits_for == wait_kind::word || t->waits_for == wait_kind::condition)
      candidates_.push_back(t.get());
  if (candidates_.empty()) return;
  thread& woken = *candidates_[schedule_.choose(candidates_.size())];
  note(self, choice::kind::disturbs, woken.id);
  disturb(woken);
}

void machine::disturb(thread& woken) noexcept {
  time_out_waits();
  if (woken.waits_for != wait_kind::word && woken.waits_for != wait_kind::condition) return;
  woken.waits_for = wait_kind::nothing;
  woken.reason = wake_reason::spurious;
}

void machine::note(const thread& self, choice::kind kind, std::uint64_t value) noexcept {
  if (most_.record != nullptr) most_.record->add({kind, self.id, self.steps, value});
}

std::optional<std::uint64_t> machine::planned(const thread& self, choice::kind kind) noexcept {
  return plan_ ? plan_->take(self.id, self.steps, kind) : std::nullopt;
}

void machine::time_out_waits() noexcept {
  for (const auto& t : threads_)
    if (t->waits_for != wait_kind::nothing && t->until <= now_) {
      t->waits_for = wait_kind::nothing;
      t->reason = wake_reason::timed_out;
    }
}

std::uint64_t machine::next_event() const noexcept {
  std::uint64_t first = never;
  for (const auto& t : threads_)
    if (!t->ended) first = std::min(first, t->waits_for == wait_kind::nothing ? t->not_before : t->until);
  return first;
}

/// One of the candidates.
thread& machine::choose_candidate(const thread& self, choice::kind kind,
                                  std::optional<std::uint64_t> preferred) noexcept {
  if (plan_) {
    const auto id = preferred ? preferred : planned(self, kind);
    for (thread* t : candidates_)
      if (id == t->id) return *t;
    // By default the next one in turn.
    const auto next = std::ranges::find_if(candidates_, [&](const thread* t) { return t->id > self.id; });
    return next != candidates_.end() ? **next : *candidates_.front();
  }
  thread& next = schedule_.drawn().by_priority && kind != choice::kind::wakes
                     ? **std::ranges::max_element(candidates_, {}, &thread::priority)
                     : *candidates_[schedule_.choose(candidates_.size())];
  if (kind != choice::kind::preempts || &next != &self) note(self, kind, next.id);
  return next;
}

thread& machine::choose(const thread& self, choice::kind kind, const thread* without,
                        std::optional<std::uint64_t> preferred) noexcept {
  for (;;) {
    time_out_waits();
    candidates_.clear();
    thread* spare = nullptr;
    for (const auto& t : threads_) {
      if (!can_run(*t, now_)) continue;
      if (t.get() == without)
        spare = t.get();
      else
        candidates_.push_back(t.get());
    }
    if (candidates_.empty() && spare != nullptr) return *spare;
    if (candidates_.empty()) {
      const std::uint64_t next = next_event();
      if (next == never) hang("no thread can run");
      pass_time(next - now_);
      continue;
    }
    return choose_candidate(self, kind, preferred);
  }
}

wake_reason machine::wait(wait_kind kind, const void* awaited, std::uint64_t until) noexcept {
  thread& self = *this_thread();
  self.waits_for = kind;
  self.awaited = awaited;
  self.until = until;
  switch_to(self, choose(self, choice::kind::follows));
  self.until = never;
  return self.reason;
}

unsigned machine::waiting(wait_kind kind, const void* awaited) noexcept {
  time_out_waits();
  return static_cast<unsigned>(std::ranges::count_if(
      threads_, [&](const auto& t) { return t->waits_for == kind && t->awaited == awaited; }));
}

thread* machine::wake_one(wait_kind kind, const void* awaited) noexcept {
  time_out_waits();  // a wait that has timed out has ended, whether or not the schedule has looked since
  candidates_.clear();
  for (const auto& t : threads_)
    if (t->waits_for == kind && t->awaited == awaited) candidates_.push_back(t.get());
  if (candidates_.empty()) return nullptr;
  const thread* const self = this_thread();  // null at the end of a thread, which wakes all
  thread* const woken = self != nullptr ? &choose_candidate(*self, choice::kind::wakes) : candidates_.front();
  woken->waits_for = wait_kind::nothing;
  woken->reason = wake_reason::woken;
  return woken;
}

unsigned machine::wake(wait_kind kind, const void* awaited, unsigned most) noexcept {
  unsigned woken = 0;
  while (woken < most && wake_one(kind, awaited) != nullptr) ++woken;
  return woken;
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
  threads_.back()->priority = static_cast<std::int64_t>(schedule_.choose(1024));
  return *threads_.back();
}

void machine::begin(thread& self) noexcept {
  // Until its turn comes it runs beside another thread, so it is not a thread of the machine yet.
  self.kernel_id = static_cast<int>(real_syscall(SYS_gettid));
  wait_for_turn(self);
  self_or_null = &self;
}

void machine::end() noexcept {
  thread& self = *this_thread();
  self_or_null = nullptr;
  self.ended = true;
  wake(wait_kind::end, &self, UINT_MAX);
  thread& next = choose(self, choice::kind::follows);
  ++trace_.switches;
  hand_over(next);
}

void machine::hang(const char* why) noexcept {
  hangs_(describe_hang(why, now_ - jumped_, trace_.steps, threads_));
  std::abort();
}

}  // namespace sukima::simulation
