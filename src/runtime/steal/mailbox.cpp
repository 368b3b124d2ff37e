// SPDX-License-Identifier: Apache-2.0
#include "steal/mailbox.hpp"

#include "core.hpp"

#include <sukima/detail/loop.hpp>

#include <utility>

namespace sukima::detail {

namespace {

/// A reply has come from that victim. \return the task; null: none
task* accept(worker& w, task* reply, const worker& victim) noexcept {
  w.reply.store(nullptr, std::memory_order_relaxed);
  if (reply == no_task) return nullptr;
  ++w.statistics.steals;
  w.note(trace_kind::steal, victim.id);
  return reply;
}

}  // namespace

void open_mailbox(worker& w) noexcept {
  if (w.runtime->chosen.published_tasks == 0) w.mailbox.open();
}

void close_mailbox(worker& w) noexcept {
  if (w.runtime->chosen.published_tasks != 0) return;
  if (worker* const thief = w.mailbox.close()) reply_to_thief(*thief, nullptr);
}

void reply_to_thief(worker& thief, task* t) noexcept {
  stress_point();
  thief.reply.store(t != nullptr ? t : no_task, std::memory_order_release);  // partner: poll, withdraw
  unpark(thief);
}

task* steal_request::poll(worker& w) noexcept {
  if (victim_ != nullptr) {
    task* const reply = w.reply.load(std::memory_order_acquire);  // partner: reply_to_thief
    if (reply == nullptr) return nullptr;
    const worker* const victim = std::exchange(victim_, nullptr);
    task* const t = accept(w, reply, *victim);
    w.last_victim = t != nullptr ? victim : nullptr;
    if (t != nullptr) return t;
  }
  const worker_table& workers = w.runtime->workers;
  const unsigned count = workers.size();
  const unsigned first = first_victim(w, count);
  for (unsigned i = 0; i < count; ++i) {
    worker& victim = workers[(first + i) % count];
    if (&victim == &w || !victim.mailbox.put(w)) continue;
    victim_ = &victim;
    stress_point();
    if (fiber* s = victim.current.load()) s->limit.request_poll();
    return nullptr;
  }
  return nullptr;
}

task* steal_request::withdraw(worker& w) noexcept {
  if (victim_ == nullptr) return nullptr;
  const worker* const victim = victim_;
  if (std::exchange(victim_, nullptr)->mailbox.withdraw(w)) return nullptr;
  const std::uint64_t since = ticks();
  for (;;) {
    const std::uint32_t seen = w.epoch.read();
    task* const reply = w.reply.load(std::memory_order_acquire);  // partner: reply_to_thief
    if (reply != nullptr) return accept(w, reply, *victim);
    if (!w.runtime->park.spins(wait_point::refusal, since))
      w.epoch.wait(w.runtime->chosen.policy_at(wait_point::refusal), seen);
  }
}

}  // namespace sukima::detail
