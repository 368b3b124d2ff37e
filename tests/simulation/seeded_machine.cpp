// SPDX-License-Identifier: Apache-2.0
#include "seeded_machine.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

namespace sukima::simulation {

namespace {

/// Simulated nanoseconds by kind of step. A pause costs more than on real machines, so that waiting loops do
/// not use most steps of a run.
constexpr std::array<std::uint64_t, step_kinds> costs{20, 40, 30, 2000, 50, 200, 300, 1000};

/// Number of consecutive steps after which a thread loses its high priority, because it may wait for another
/// one.
constexpr std::uint64_t longest_turn = 4000;

bool can_run(const thread& t, std::uint64_t now) noexcept {
  return !t.ended && t.waits_for == wait_kind::nothing && t.not_before <= now;
}

}  // namespace

seeded_machine::seeded_machine(std::uint64_t seed, const limits& most, hang_handler hangs)
    : machine(most, std::move(hangs)), schedule_(seed) {
  if (most.plan != nullptr) plan_.emplace(*most.plan);
}

void seeded_machine::pass_time(std::uint64_t nanoseconds) noexcept {
  now_ += nanoseconds;
  if (now_ - jumped_ > most_.nanoseconds) hang("so much time without an end");
}

void seeded_machine::step(step_kind kind) noexcept {
  thread& self = *this_thread();
  count(self, kind);
  pass_time(costs[static_cast<std::size_t>(kind)] * schedule_.drawn().pace);
  if (kind == step_kind::pause)
    give_way(self);
  else if (plan_)
    follow_plan(self);
  else if (--until_decision_ == 0)
    decide(self);
}

void seeded_machine::decide(thread& self) noexcept {
  until_decision_ = schedule_.next_gap();
  if (const std::uint64_t length = schedule_.next_jump(); length != 0) jump(self, length);
  if (schedule_.wakes_spuriously()) wake_spuriously(self);
  if (const std::uint64_t length = schedule_.next_stop(); length != 0) stop(self, length);
  if (schedule_.lowers_priority() || trace_.steps - last_switch_ > longest_turn)
    self.priority = --lowest_priority_;
  switch_to(self, choose(self, choice::kind::preempts));
}

void seeded_machine::follow_plan(thread& self) noexcept {
  if (const auto length = planned(self, choice::kind::jumps)) jump(self, *length);
  if (const auto id = planned(self, choice::kind::disturbs); id && *id < threads_.size() && may_disturb_)
    disturb(*threads_[*id]);
  if (const auto length = planned(self, choice::kind::stops)) stop(self, *length);
  const auto next = planned(self, choice::kind::preempts);
  if (next && *next < threads_.size()) {
    time_out_waits();  // the schedule did the same before it chose
    if (can_run(*threads_[*next], now_)) return switch_to(self, *threads_[*next]);
  }
  // If no thread can run, time passes first. After that the planned thread is chosen.
  if (!can_run(self, now_) || trace_.steps - last_switch_ > longest_turn)
    switch_to(self, choose(self, choice::kind::preempts, nullptr, next));
}

/// Called for a thread that waits in a loop: another thread must run.
void seeded_machine::give_way(thread& self) noexcept {
  self.priority = --lowest_priority_;
  switch_to(self, choose(self, choice::kind::follows, &self));
}

void seeded_machine::jump(thread& self, std::uint64_t nanoseconds) noexcept {
  note(self, choice::kind::jumps, nanoseconds);
  now_ += nanoseconds;
  jumped_ += nanoseconds;
}

void seeded_machine::stop(thread& self, std::uint64_t nanoseconds) noexcept {
  note(self, choice::kind::stops, nanoseconds);
  self.not_before = now_ + nanoseconds;
}

void seeded_machine::wake_spuriously(thread& self) noexcept {
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

void seeded_machine::disturb(thread& woken) noexcept {
  time_out_waits();
  if (woken.waits_for != wait_kind::word && woken.waits_for != wait_kind::condition) return;
  woken.waits_for = wait_kind::nothing;
  woken.reason = wake_reason::spurious;
}

void seeded_machine::note(const thread& self, choice::kind kind, std::uint64_t value) noexcept {
  if (most_.record != nullptr) most_.record->add({kind, self.id, self.steps, value});
}

std::optional<std::uint64_t> seeded_machine::planned(const thread& self, choice::kind kind) noexcept {
  return plan_ ? plan_->take(self.id, self.steps, kind) : std::nullopt;
}

void seeded_machine::time_out_waits() noexcept {
  for (const auto& t : threads_)
    if (t->waits_for != wait_kind::nothing && t->until <= now_) {
      t->waits_for = wait_kind::nothing;
      t->reason = wake_reason::timed_out;
    }
}

std::uint64_t seeded_machine::next_event() const noexcept {
  std::uint64_t first = never;
  for (const auto& t : threads_)
    if (!t->ended) first = std::min(first, t->waits_for == wait_kind::nothing ? t->not_before : t->until);
  return first;
}

/// Returns one of the candidates.
thread& seeded_machine::choose_candidate(const thread& self, choice::kind kind,
                                         std::optional<std::uint64_t> preferred) noexcept {
  if (plan_) {
    const auto id = preferred ? preferred : planned(self, kind);
    for (thread* t : candidates_)
      if (id == t->id) return *t;
    // By default the candidate with the next number.
    const auto next = std::ranges::find_if(candidates_, [&](const thread* t) { return t->id > self.id; });
    return next != candidates_.end() ? **next : *candidates_.front();
  }
  thread& next = schedule_.drawn().by_priority && kind != choice::kind::wakes
                     ? **std::ranges::max_element(candidates_, {}, &thread::priority)
                     : *candidates_[schedule_.choose(candidates_.size())];
  if (kind != choice::kind::preempts || &next != &self) note(self, kind, next.id);
  return next;
}

thread& seeded_machine::choose(const thread& self, choice::kind kind, const thread* without,
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

wake_reason seeded_machine::wait(wait_kind kind, const void* awaited, std::uint64_t until) noexcept {
  thread& self = *this_thread();
  self.waits_for = kind;
  self.awaited = awaited;
  self.until = until;
  switch_to(self, choose(self, choice::kind::follows));
  self.until = never;
  return self.reason;
}

unsigned seeded_machine::waiting(wait_kind kind, const void* awaited) noexcept {
  time_out_waits();
  return machine::waiting(kind, awaited);
}

thread* seeded_machine::wake_one(wait_kind kind, const void* awaited) noexcept {
  time_out_waits();  // a wait that has timed out has ended, even if the schedule has not noticed it yet
  candidates_.clear();
  for (const auto& t : threads_)
    if (t->waits_for == kind && t->awaited == awaited) candidates_.push_back(t.get());
  if (candidates_.empty()) return nullptr;
  const thread* const self = this_thread();  // null at a thread's end, which wakes all waiting threads
  thread* const woken = self != nullptr ? &choose_candidate(*self, choice::kind::wakes) : candidates_.front();
  woken->waits_for = wait_kind::nothing;
  woken->reason = wake_reason::woken;
  return woken;
}

void seeded_machine::added(thread& created) {
  created.priority = static_cast<std::int64_t>(schedule_.choose(1024));
}

void seeded_machine::end() noexcept {
  thread& self = forget_this_thread();
  self.ended = true;
  wake(wait_kind::end, &self, UINT_MAX);
  leave_to(choose(self, choice::kind::follows));
}

}  // namespace sukima::simulation
