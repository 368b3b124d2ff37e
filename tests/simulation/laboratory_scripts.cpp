// SPDX-License-Identifier: Apache-2.0
// The scripts of the laboratory: see script.hpp.
#include "laboratory.hpp"

#include <algorithm>
#include <utility>

namespace sukima::simulation {

void laboratory::start_script(script body) {
  thread& created = add_thread();
  created.name = "script";
  inhabitants_[created.id].body = std::move(body);
  ++scripts_left_;
  if (its_->guest != outside) {
    const auto kind = static_cast<std::size_t>(step_kind::thread);
    its_->owed += setup_.cost.of_step[kind];
    own_account().steps[kind] += setup_.cost.of_step[kind];
  }
  start(created);
}

void laboratory::wait_for_scripts() {
  while (scripts_left_ != 0) wait(wait_kind::word, &scripts_left_, never);
}

std::suspend_always laboratory::works(std::uint64_t nanoseconds) {
  count(*self_, step_kind::protocol);
  its_->owed += nanoseconds;
  own_account().work += nanoseconds;
  return {};
}

std::suspend_always laboratory::reaches(counter& c, std::uint64_t value, patience before_sleep) {
  count(*self_, step_kind::atomic);
  inhabitant& its = *its_;
  its.awaited = &c;
  its.awaited_value = value;
  its.patience_left = before_sleep.nanoseconds;
  its.pauses = before_sleep.pauses;
  const std::uint64_t look = setup_.cost.of_step[static_cast<std::size_t>(step_kind::atomic)];
  own_account().steps[static_cast<std::size_t>(step_kind::atomic)] += look;
  its.owed += look;
  its.wait = phase::looks;
  if (c.value < value) c.waiting.push_back(self_->id);
  return {};
}

void laboratory::raise(counter& c, bool wakes) {
  count(*self_, step_kind::atomic);
  const auto charge = [&](step_kind kind) {
    const std::uint64_t price = setup_.cost.of_step[static_cast<std::size_t>(kind)];
    its_->owed += price;
    own_account().steps[static_cast<std::size_t>(kind)] += price;
  };
  charge(step_kind::atomic);
  if (wakes) charge(step_kind::futex);
  ++c.value;
  std::erase_if(c.waiting, [&](std::size_t id) {
    inhabitant& its = inhabitants_[id];
    if (its.awaited_value > c.value) return false;
    if (its.wait != phase::sleeps) {
      notice(its);
      return true;
    }
    if (!wakes) return false;
    threads_[id]->waits_for = wait_kind::nothing;
    its_->owed += setup_.cost.wake;
    own_account().waking += setup_.cost.wake;
    make_ready(id, now());
    return true;
  });
}

/// Lets a polling thread see the new value with its next poll.
void laboratory::notice(inhabitant& of) noexcept {
  if (of.wait != phase::polls) return;
  const std::uint64_t poll =
      setup_.cost.pause + setup_.cost.of_step[static_cast<std::size_t>(step_kind::atomic)];
  if (of.vcpu == nothing) {
    of.owed = std::min(of.owed, poll);
    return;
  }
  const std::uint64_t done = of.asked - hypervisor_.left_of(of.vcpu);
  std::uint64_t behind = 0;
  if (hypervisor_.is_running(of.vcpu)) behind = now() - std::min(now(), hypervisor_.clock(of.vcpu));
  of.owed = std::min(of.owed, done + behind + poll);
  of.asked = std::min(of.owed, of.turn_left);
  hypervisor_.demand(of.vcpu, of.asked - std::min(of.asked, done));
}

/// Continues a script whose vCPU has spent the time that the script owed.
void laboratory::run_script(std::size_t id) {
  goes_on(id);
  inhabitant& its = *its_;
  its.exits = false;
  while (its.owed == 0) {
    if (its.awaited != nullptr && !stop_waiting()) {
      if (its.wait == phase::sleeps) return give_up(its);
      continue;
    }
    if (its.body.go_on()) continue;
    return end_script();
  }
  if (its.exits)
    yield_after_exit();
  else
    ask(its);
}

/// Polls until the patience ends, or until the loop of pauses exits.
/// \param after  time that it owes before that, which is already in the account
void laboratory::begin_polls(std::uint64_t after) noexcept {
  inhabitant& its = *its_;
  const bool can_exit = its.pauses && setup_.exits.gap != 0 &&
                        setup_.cost.of_step[static_cast<std::size_t>(step_kind::atomic)] <= setup_.exits.gap;
  const std::uint64_t length =
      can_exit ? std::min(its.patience_left, setup_.exits.window) : its.patience_left;
  its.patience_left -= length;
  its.wait = phase::polls;
  its.owed = after + length;
  its.charged = after;
}

/// Ends a wait whose counter has the value, or begins the next phase of it. \returns whether the wait has
/// ended
bool laboratory::stop_waiting() {
  inhabitant& its = *its_;
  if (its.awaited->value >= its.awaited_value) {
    its.awaited = nullptr;
    return true;
  }
  if (its.wait == phase::looks && its.patience_left != 0) {
    begin_polls(0);
  } else if (its.wait == phase::polls && its.patience_left != 0) {
    its.exits = true;
    ++own_account().exits;
    own_account().exiting += setup_.exits.cost;
    begin_polls(setup_.exits.cost);
  } else if (its.wait != phase::enters) {
    its.wait = phase::enters;
    const auto kind = static_cast<std::size_t>(step_kind::futex);
    its.owed = setup_.cost.of_step[kind];
    own_account().steps[kind] += its.owed;
  } else {
    its.wait = phase::sleeps;
    self_->waits_for = wait_kind::word;
    self_->awaited = its.awaited;
    ++own_account().sleeps;
  }
  return false;
}

void laboratory::end_script() {
  if (--scripts_left_ == 0) wake(wait_kind::word, &scripts_left_, 1);
  self_->ended = true;
  its_->body = {};
  its_->owed = 0;
  give_up(*its_);
}

}  // namespace sukima::simulation
