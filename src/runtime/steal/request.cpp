// SPDX-License-Identifier: Apache-2.0
// The steal protocol `request`: a thief asks one victim and waits for its answer, a task or none (Tascell).
//
// worker::box is the victim's: null: open; a thief: its request; closed_box: it is not running, ask somebody
// else.
//   thief:  CAS null → itself, then raises the victim's fiber     victim: exchange → null, then answers
//   thief:  CAS itself → null withdraws; if that fails an answer is on its way and must be waited for
// worker::reply is the thief's: null: no answer yet. Whoever took the request out of the box stores there
// (release), then rings. A worker closes its box before it searches or leaves, and answers what was in it
// with none: so no thief waits for a thief. A worker that changes fibers looks into its box afterwards
// (arrive in switch.cpp). Model: model/request.pml.
#include "core.hpp"

#include <sukima/detail/loop.hpp>

namespace sukima::detail {

// With published tasks nobody asks, and entering a runtime is cheaper without these accesses.
void open_box(worker& w) noexcept {
  if (w.runtime->chosen.ready == 0) w.box.store(nullptr, std::memory_order_release);
}

void close_box(worker& w) noexcept {
  if (w.runtime->chosen.ready != 0) return;
  worker* thief = w.box.exchange(closed_box);
  if (thief != nullptr && thief != closed_box) answer(*thief, nullptr);
}

void answer(worker& thief, task* t) noexcept {
  stress_point();
  runtime_core& r = *thief.runtime;
  thief.reply.store(t != nullptr ? t : no_task, std::memory_order_release);
  r.ring(thief);
}

bool has_request(const worker& w) noexcept {
  worker* thief = w.box.load();
  return thief != nullptr && thief != closed_box;
}

worker* take_request(worker& w) noexcept {
  if (!has_request(w)) return nullptr;
  worker* thief = w.box.load();
  // The thief may withdraw, but nobody closes the box except its own worker, which is the caller.
  while (thief != nullptr && !w.box.compare_exchange_weak(thief, nullptr)) {
  }
  return thief;
}

task* request::poll(worker& w) noexcept {
  if (asked_ != nullptr) {
    task* t = w.reply.load(std::memory_order_acquire);
    if (t == nullptr) return nullptr;
    w.reply.store(nullptr, std::memory_order_relaxed);
    const worker* const victim = std::exchange(asked_, nullptr);
    w.last_victim = t != no_task ? victim : nullptr;
    if (t != no_task) {
      ++w.counts.steals;
      w.note(trace_kind::steal, victim->id);
      return t;
    }
  }
  runtime_core& r = *w.runtime;
  const unsigned count = r.worker_count.load(std::memory_order_acquire);
  const unsigned first = r.first_victim(w, count);
  for (unsigned i = 0; i < count; ++i) {
    worker* victim = r.workers[(first + i) % count].load(std::memory_order_relaxed);
    worker* nobody = nullptr;
    if (victim == &w || victim->box.load(std::memory_order_relaxed) != nullptr) continue;
    if (!victim->box.compare_exchange_strong(nobody, &w)) continue;
    asked_ = victim;
    stress_point();
    if (fiber* s = victim->current.load()) s->request_poll();
    return nullptr;
  }
  return nullptr;
}

task* request::withdraw(worker& w) noexcept {
  if (asked_ == nullptr) return nullptr;
  worker* self = &w;
  if (asked_->box.compare_exchange_strong(self, nullptr)) {
    asked_ = nullptr;
    return nullptr;
  }
  const worker* const victim = std::exchange(asked_, nullptr);
  task* t = nullptr;
  const std::uint64_t since = ticks();
  for (;;) {
    const std::uint32_t seen = w.bell.load();
    if ((t = w.reply.load(std::memory_order_acquire)) != nullptr) break;
    // Whoever took the request out of the box stores the answer, then rings.
    if (!w.runtime->spins(wait_place::refusal, since)) w.runtime->wait_for_bell(w, wait_place::refusal, seen);
  }
  w.reply.store(nullptr, std::memory_order_relaxed);
  if (t == no_task) return nullptr;
  ++w.counts.steals;
  w.note(trace_kind::steal, victim->id);
  return t;
}

}  // namespace sukima::detail
