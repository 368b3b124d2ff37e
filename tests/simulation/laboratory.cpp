// SPDX-License-Identifier: Apache-2.0
#include "laboratory.hpp"

#include <algorithm>
#include <climits>
#include <numeric>

namespace sukima::simulation {

laboratory& the_laboratory() noexcept { return static_cast<laboratory&>(the_machine()); }

std::uint64_t account::costs() const noexcept {
  return std::accumulate(steps.begin(), steps.end(), pauses + waking + waking_up + thread_switches + exiting);
}

laboratory::laboratory(const laboratory_setup& setup, const limits& most, hang_handler hangs)
    : machine(most, std::move(hangs)), setup_(setup), hypervisor_(setup.pcpus, setup.hypervisor) {}

std::size_t laboratory::add_guest(const guest_shape& shape) {
  guests_.push_back({shape, {}, {}});
  vcpus_.resize(vcpus_.size() + shape.vcpus);
  return hypervisor_.add_guest(shape);
}

void laboratory::make_busy(std::size_t number) {
  const std::size_t first = hypervisor_.first_vcpu(number);
  for (std::size_t v = first; v < first + guests_[number].shape.vcpus; ++v) {
    hypervisor_.demand(v, hypervisor::forever);
    hypervisor_.wake(v, now());
  }
  horizon_ = 0;
}

void laboratory::added(thread& created) {
  inhabitants_.resize(created.id + std::size_t{1});
  inhabitants_[created.id] = {};
  if (self_ == nullptr)
    goes_on(created.id);  // thread 0
  else
    inhabitants_[created.id].guest = its_->guest == outside ? starts_in_ : its_->guest;
}

thread& laboratory::goes_on(std::size_t id) noexcept {
  self_ = threads_[id].get();
  its_ = &inhabitants_[id];
  return *self_;
}

void laboratory::start(thread& created) noexcept { make_ready(created.id, now()); }

std::uint64_t laboratory::now() const noexcept {
  return its_->guest == outside ? its_->went_on_at : hypervisor_.clock(its_->vcpu);
}

int laboratory::cpu() const noexcept {
  return its_->guest == outside ? 0 : static_cast<int>(its_->vcpu - hypervisor_.first_vcpu(its_->guest));
}

void laboratory::step(step_kind kind) noexcept {
  count(*self_, kind);
  const auto number = static_cast<std::size_t>(kind);
  if (its_->guest == outside) {
    if (kind != step_kind::pause) return;
    ready_outside_.emplace(its_->went_on_at + setup_.cost.of_step[number], self_->id);
    return pass_turn();
  }
  spend(setup_.cost.of_step[number], own_account().steps[number]);
  if (kind == step_kind::pause && !guests_[its_->guest].ready.empty()) {
    end_turn(self_->id);
    pass_turn();
  }
}

void laboratory::pause() noexcept {
  if (its_->guest == outside) return step(step_kind::pause);
  count(*self_, step_kind::pause);
  spend(setup_.cost.pause, own_account().pauses);
  if (setup_.exits.gap != 0) look_for_loop();
}

void laboratory::look_for_loop() {
  vcpu_state& v = vcpus_[its_->vcpu];
  const std::uint64_t before = std::exchange(v.last_pause, now());
  if (v.last_pause - before > setup_.exits.gap + setup_.cost.pause) v.loop_began = v.last_pause;
  if (v.last_pause - v.loop_began < setup_.exits.window) return;
  v.loop_began = v.last_pause + setup_.exits.cost;  // the next loop begins after the exit
  ++own_account().exits;
  spend(setup_.exits.cost, own_account().exiting);
  if (yield_after_exit()) pass_turn();
}

bool laboratory::yield_after_exit() {
  ask(*its_);
  if (!hypervisor_.yield(its_->vcpu, setup_.exits.in_guest, setup_.exits.demotes)) return false;
  horizon_ = 0;
  return true;
}

void laboratory::work(std::uint64_t nanoseconds) noexcept {
  count(*self_, step_kind::protocol);
  spend(nanoseconds, own_account().work);
}

void laboratory::spend(std::uint64_t nanoseconds, std::uint64_t& as) noexcept {
  inhabitant& its = *its_;
  as += nanoseconds;
  its.owed += nanoseconds;
  if (its.owed == 0) return;
  if (its.owed < its.turn_left && hypervisor_.run(its.vcpu, its.owed, horizon_)) {
    its.turn_left -= its.owed;
    its.owed = 0;
    return;
  }
  ask(its);
  pass_turn();
}

void laboratory::ask(inhabitant& of) noexcept {
  of.asked = std::min(of.owed, of.turn_left);
  hypervisor_.demand(of.vcpu, of.asked);
}

wake_reason laboratory::wait(wait_kind kind, const void* awaited, std::uint64_t until) noexcept {
  thread& self = *self_;
  inhabitant& its = *its_;
  self.waits_for = kind;
  self.awaited = awaited;
  self.until = until == never ? never : std::max(until, now());
  its.waits_since = ++waits_;
  if (until != never) timers_.emplace(self.until, self.id);
  if (its.guest != outside) {
    if (kind == wait_kind::word || kind == wait_kind::condition) ++own_account().sleeps;
    give_up(its);
  }
  pass_turn();
  self.until = never;
  return self.reason;
}

/// Wakes the thread that has waited longest, as the kernel does.
thread* laboratory::wake_one(wait_kind kind, const void* awaited) noexcept {
  thread* woken = nullptr;
  for (const auto& t : threads_)
    if (t->waits_for == kind && t->awaited == awaited &&
        (woken == nullptr || inhabitants_[t->id].waits_since < inhabitants_[woken->id].waits_since))
      woken = t.get();
  if (woken == nullptr) return nullptr;
  if (woken->until != never) timers_.erase({woken->until, woken->id});
  woken->waits_for = wait_kind::nothing;
  woken->reason = wake_reason::woken;
  // The cost is paid at the next step, because the callers rely on no other thread running before they wait.
  if (!self_->ended && its_->guest != outside) {
    its_->owed += setup_.cost.wake;
    own_account().waking += setup_.cost.wake;
  }
  make_ready(woken->id, self_->ended ? ended_at_ : now());
  return woken;
}

void laboratory::make_ready(std::size_t id, std::uint64_t at) {
  inhabitant& its = inhabitants_[id];
  horizon_ = 0;
  if (its.guest == outside) {
    ready_outside_.emplace(at, id);
    return;
  }
  its.owed += setup_.cost.wake_up;
  its.charged += setup_.cost.wake_up;
  guests_[its.guest].spent.waking_up += setup_.cost.wake_up;
  const std::size_t free = idle_vcpu(its);
  if (free == nothing) {
    guests_[its.guest].ready.push_back(id);
    return;
  }
  take(free, id);
  hypervisor_.wake(free, at);
}

std::size_t laboratory::idle_vcpu(const inhabitant& of) const noexcept {
  if (of.last_vcpu != nothing && vcpus_[of.last_vcpu].thread == nothing) return of.last_vcpu;
  const std::size_t first = hypervisor_.first_vcpu(of.guest);
  for (std::size_t v = first; v < first + guests_[of.guest].shape.vcpus; ++v)
    if (vcpus_[v].thread == nothing) return v;
  return nothing;
}

void laboratory::take(std::size_t number, std::size_t id) {
  inhabitant& its = inhabitants_[id];
  vcpu_state& v = vcpus_[number];
  if (v.last_thread != id) {
    its.owed += setup_.cost.thread_switch;
    its.charged += setup_.cost.thread_switch;
    guests_[its.guest].spent.thread_switches += setup_.cost.thread_switch;
  }
  v.thread = v.last_thread = id;
  its.vcpu = its.last_vcpu = number;
  its.turn_left = setup_.turn;
  ask(its);
}

void laboratory::give_up(inhabitant& of) {
  const std::size_t left = of.vcpu;
  std::deque<std::size_t>& ready = guests_[of.guest].ready;
  of.vcpu = nothing;
  vcpus_[left].thread = nothing;
  horizon_ = 0;
  if (ready.empty()) return hypervisor_.halt(left);
  const std::size_t next = ready.front();
  ready.pop_front();
  take(left, next);
}

void laboratory::end_turn(std::size_t id) {
  inhabitant& its = inhabitants_[id];
  its.turn_left = setup_.turn;
  std::deque<std::size_t>& ready = guests_[its.guest].ready;
  if (ready.empty()) return;
  ready.push_back(id);
  give_up(its);
}

thread& laboratory::next_thread(const thread* self) noexcept {
  for (;;) {
    std::optional<std::size_t> favoured;
    if (self != nullptr && inhabitants_[self->id].vcpu != nothing) favoured = inhabitants_[self->id].vcpu;
    const auto e = hypervisor_.next(favoured, setup_.slack);
    const std::uint64_t timer = timers_.empty() ? never : timers_.begin()->first;
    const std::uint64_t goes_outside = ready_outside_.empty() ? never : ready_outside_.begin()->first;
    const std::uint64_t others = std::min(timer, goes_outside);
    const std::uint64_t slack = e && e->met && e->met == favoured ? setup_.slack : 0;
    if (!e && others == never) hang("no thread can run");
    if (std::min(others, e ? e->at : never) > most_.nanoseconds) hang("so much time without an end");
    if (e && e->at <= (others > never - slack ? others : others + slack)) {
      if (thread* const next = happen(*e)) return *next;
    } else if (timer <= goes_outside) {
      time_out();
    } else {
      return go_outside();
    }
  }
}

thread* laboratory::happen(const hypervisor::event& e) {
  hypervisor_.happen(e);
  if (!e.met) return nullptr;
  const std::size_t id = vcpus_[*e.met].thread;
  inhabitant& its = inhabitants_[id];
  its.owed -= its.asked;
  if (its.awaited != nullptr && its.wait == phase::polls) {
    const std::uint64_t other = std::min(its.charged, its.asked);
    its.charged -= other;
    guests_[its.guest].spent.pauses += its.asked - other;
  }
  its.turn_left -= its.asked;
  its.asked = 0;
  if (its.turn_left == 0) end_turn(id);
  if (its.vcpu == nothing) return nullptr;
  if (its.owed != 0) {
    ask(its);
    return nullptr;
  }
  if (its.body) {
    run_script(id);
    return nullptr;
  }
  find_horizon(its);
  return &goes_on(id);
}

void laboratory::find_horizon(const inhabitant& of) noexcept {
  horizon_ = hypervisor_.next_elsewhere(of.vcpu);
  if (!timers_.empty()) horizon_ = std::min(horizon_, timers_.begin()->first);
  if (!ready_outside_.empty()) horizon_ = std::min(horizon_, ready_outside_.begin()->first);
  horizon_ = std::min(horizon_, most_.nanoseconds) + setup_.slack;
}

void laboratory::time_out() {
  const auto [at, id] = *timers_.begin();
  timers_.erase(timers_.begin());
  threads_[id]->waits_for = wait_kind::nothing;
  threads_[id]->reason = wake_reason::timed_out;
  make_ready(id, at);
}

thread& laboratory::go_outside() {
  const auto [at, id] = *ready_outside_.begin();
  ready_outside_.erase(ready_outside_.begin());
  inhabitants_[id].went_on_at = at;
  horizon_ = 0;
  return goes_on(id);
}

void laboratory::end() noexcept {
  ended_at_ = now();
  thread& self = forget_this_thread();
  self.ended = true;
  wake(wait_kind::end, &self, UINT_MAX);
  if (inhabitants_[self.id].guest != outside) give_up(inhabitants_[self.id]);
  leave_to(next_thread(nullptr));
}

}  // namespace sukima::simulation
