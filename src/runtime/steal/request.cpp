// SPDX-License-Identifier: Apache-2.0
#include "steal/request.hpp"

#include <base/shared/assert.hpp>
#include <base/shared/probe.hpp>
#include "fiber/fiber.hpp"
#include "observe/trace.hpp"
#include "park/park.hpp"
#include "park/park_parts.hpp"
#include "remote/node_events.hpp"
#include "steal/steal.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>

#include <algorithm>
#include <utility>

namespace sukima::detail {

namespace {

/// Handles the reply of that victim. \return the task; null: none
task* accept(worker& w, task* reply, const worker& victim) noexcept {
  w.reply.store(nullptr, std::memory_order_relaxed);
  if (reply == no_task) return nullptr;
  ++w.statistics.steals;
  w.note(trace_kind::steal, victim.id);
  SUKIMA_PROBE(steal, w.id, victim.id);
  return reply;
}

}  // namespace

namespace {

[[gnu::cold, gnu::noinline]] void open_where_asked(worker& w) noexcept {
  parts_of<park_parts>(w).remote.worker_begins(w);
  if (w.runtime->chosen.published_tasks == 0) w.mailbox.open();
}

[[gnu::cold, gnu::noinline]] void close_where_asked(worker& w) noexcept {
  parts_of<park_parts>(w).remote.worker_stops(w);
  if (w.runtime->chosen.published_tasks != 0) return;
  if (worker* const thief = w.mailbox.close()) reply_to_thief(*thief, nullptr);
}

}  // namespace

void open_mailbox(worker& w) noexcept {
  SUKIMA_ASSERT(w.mailbox.is_closed(), "a worker opens its mailbox once");
  if (w.runtime->workers_are_asked.load(std::memory_order_relaxed)) [[unlikely]]
    open_where_asked(w);
}

void close_mailbox(worker& w) noexcept {
  if (w.runtime->workers_are_asked.load(std::memory_order_relaxed)) [[unlikely]]
    close_where_asked(w);
}

worker* take_request(worker& w) noexcept {
  worker* const thief = w.mailbox.take();
  if (thief != nullptr && w.runtime->request_interval != 0)
    w.replied_at.store(ticks(), std::memory_order_relaxed);
  return thief;
}

void reply_to_thief(worker& thief, task* t) noexcept {
  stress_point();
  SUKIMA_ASSERT(thief.reply.load(std::memory_order_seq_cst) == nullptr,
                "a thief gets one reply to its request");
  thief.reply.store(t != nullptr ? t : no_task, std::memory_order_release);
  unpark(thief);
}

std::uint64_t steal_request::rest_of(const worker& victim, std::uint64_t now) noexcept {
  const std::uint64_t interval = victim.runtime->request_interval;
  // The counter of another CPU may be ahead of this one's: then the difference is huge.
  const std::uint64_t since = now - victim.replied_at.load(std::memory_order_relaxed);
  return since < interval ? interval - since : 0;
}

task* steal_request::poll(worker& thief) noexcept {
  next_in_ = 0;
  if (victim_ != nullptr) {
    task* const reply = thief.reply.load(std::memory_order_acquire);
    if (reply == nullptr) return nullptr;
    const worker* const victim = std::exchange(victim_, nullptr);
    task* const t = accept(thief, reply, *victim);
    thief.last_victim = t != nullptr ? victim : nullptr;
    if (t != nullptr) return t;
  }
  const worker_table& workers = thief.runtime->workers;
  const unsigned count = workers.size();
  const unsigned first = first_victim(thief, count);
  const bool is_indolent = thief.runtime->request_interval != 0;
  const std::uint64_t now = is_indolent ? ticks() : 0;
  for (unsigned i = 0; i < count; ++i) {
    worker& victim = workers[(first + i) % count];
    if (&victim == &thief) continue;
    if (const std::uint64_t rest = is_indolent ? rest_of(victim, now) : 0; rest != 0) {
      if (!victim.mailbox.is_closed()) next_in_ = next_in_ == 0 ? rest : std::min(next_in_, rest);
      continue;
    }
    if (!victim.mailbox.put(thief)) continue;
    victim_ = &victim;
    stress_point();
    if (fiber* s = victim.current.load(std::memory_order_seq_cst)) s->limit.request_poll();
    return nullptr;
  }
  return nullptr;
}

task* steal_request::withdraw(worker& thief) noexcept {
  if (victim_ == nullptr) return nullptr;
  const worker* const victim = victim_;
  if (std::exchange(victim_, nullptr)->mailbox.withdraw(thief)) return nullptr;
  const std::uint64_t since = ticks();
  thief.epoch.lend_to(victim->thread_id.load(std::memory_order_relaxed));
  for (;;) {
    const std::uint32_t seen = thief.epoch.read();
    task* const reply = thief.reply.load(std::memory_order_acquire);
    if (reply != nullptr) {
      thief.epoch.lend_to(0);
      return accept(thief, reply, *victim);
    }
    if (!parts_of<park_parts>(thief).park.spins(wait_point::refusal, since))
      thief.epoch.wait(thief.runtime->chosen.policy_at(wait_point::refusal), seen);
  }
}

}  // namespace sukima::detail
