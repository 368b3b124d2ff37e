// SPDX-License-Identifier: Apache-2.0
// Waiting for a task that another worker has taken, while doing other work. Protocol: join.hpp.
#include <base/shared/assert.hpp>
#include <base/shared/probe.hpp>
#include "cancel/abort.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "join/join.hpp"
#include "join/join_parts.hpp"
#include "observe/trace.hpp"
#include "park/call_home.hpp"
#include "park/compensation.hpp"
#include "place/place_events.hpp"
#include "shared/shortage.hpp"
#include "steal/injector.hpp"
#include "steal/steal.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/executor.hpp>

#include <optional>

namespace sukima::detail {

namespace {

/// `then` of a fiber that parks for a task.
void after_park(worker& w, fiber* from, void* argument) {
  auto* awaited = static_cast<task*>(argument);
  join_parts& r = parts_of<join_parts>(w);
  stress_point();
  std::uintptr_t seen = awaited->joining.load(std::memory_order_relaxed);
  stress_point();
  SUKIMA_ASSERT((seen & join_parked_mark) == 0, "one fiber at most waits for a task");
  while (seen != join_done)
    if (awaited->joining.compare_exchange_weak(seen,
                                               reinterpret_cast<std::uintptr_t>(from) | join_parked_mark,
                                               std::memory_order_acq_rel, std::memory_order_acquire))
      return;
  r.parked.remove();
  make_runnable(*from);
}

void count_park(worker& w) noexcept {
  ++w.statistics.parks;
  w.note(trace_kind::park);
  SUKIMA_PROBE(wait, w.id, 0);
  parts_of<join_parts>(w).parked.add();
}

/// Whether the fiber must release its executor's token when it parks. The end of the awaited task posts the
/// fiber to the executor.
bool releases_token(const fiber& self) noexcept { return self.home != nullptr && self.thread_bindings == 0; }

/// Parks the fiber for a task. Its worker continues with `next`; null: at home.
void park_for(fiber& self, task* awaited, fiber* next) {
  worker& w = *self.on;
  count_park(w);
  if (!releases_token(self)) {
    if (next != nullptr)
      switch_to(w, self, *next, after_park, awaited);
    else
      switch_home(w, self, after_park, awaited);
    return;
  }
  if (next != nullptr)
    self.home->leave_for(self, *next, after_park, awaited);
  else
    self.home->leave_for_home(self, after_park, awaited);
  takes_over(self.home);  // pairs with: post, release in executor.cpp
}

}  // namespace

void await(fiber& self, task* awaited, char* top) noexcept {
  SUKIMA_ASSERT(running_fiber() == &self, "a fiber waits on its own stack");
  join_parts& r = parts_of<join_parts>(self);
  inject_published(self);  // thieves would not find them on a fiber that does not run
  if (awaited->origin != nullptr) unmask(r, *awaited);
  bool patient = true;
  std::optional<bound_wait> passes_on;  // from when the worker finds work that another fiber must run
  while (!is_done(awaited)) {
    worker& w = *self.on;
    if (releases_token(self)) {
      // Other fibers of its executor continue.
      count_park(w);
      if (self.home->leave(self, after_park, awaited)) continue;
      r.parked.remove();
    }
    const bool full = r.parked.now() >= r.chosen.fibers;
    const permitted_work allowed = self.thread_bindings != 0 ? permitted_work::thread_bound
                                   : full && patient         ? permitted_work::limited
                                                             : permitted_work::anything;
    const work found = find_work(w, awaited, allowed);
    patient = static_cast<bool>(found) || allowed != permitted_work::limited;
    if (found.fresh != nullptr && top != nullptr && descends(found.fresh, awaited)) {
      // Delays nothing: the join waits for it anyway. Needs no fiber.
      ++w.statistics.run_on_top;
      execute(self, found.fresh, top);
      fiber* const next = complete(*self.on, found.fresh);
      if (next != nullptr && self.thread_bindings != 0) {
        make_runnable(*next);  // this one stays on its thread
      } else if (next != nullptr) {
        park_for(self, awaited, next);
      }
    } else if (found.fresh != nullptr) {
      fiber* other = allowed == permitted_work::anything ? w.take_fiber() : nullptr;
      if (other == nullptr) {
        // It is the awaited task, or a part of it, but it may not run on top of this fiber. If this is the
        // only worker, no other worker takes it. So the limit of fibers is ignored, and a thread-bound fiber
        // gets another worker in its place.
        if (allowed == permitted_work::limited) patient = false;
        if (allowed == permitted_work::thread_bound) {
          if (!passes_on) passes_on.emplace(r);
          passes_on->look();
        }
        r.injector.push(found.fresh);
        yield();
        continue;
      }
      other->first = found.fresh;
      park_for(self, awaited, other);
    } else if (found.runnable != nullptr) {
      park_for(self, awaited, found.runnable);
    } else if (!is_done(awaited) && is_called_home(w) && self.thread_bindings == 0) {
      park_for(self, awaited, nullptr);
    }
  }
  SUKIMA_ASSERT(running_fiber() == &self, "a fiber that was parked goes on on its own stack");
  takes_over(awaited);  // pairs with: complete
  // While the fiber was parked, flags went to the workers and not to it.
  look_for_abort(self);
}

void run_on_new_fiber(fiber& self, root_task& root) {
  root.joining.store(0, std::memory_order_relaxed);
  root.place = hinted_place(self);
  inject_published(self);
  fiber* other = self.on->take_fiber();
  if (other == nullptr)
    throw shortage(
        std::errc::not_enough_memory,
        "sukima: no memory for the fiber of a call without a context; pass the context to that call");
  other->first = &root;
  // The fiber stays on this thread if it must be resumed here.
  const bool stays = self.thread_bindings != 0 || (self.home != nullptr && self.home->has_own_thread());
  other->thread_bindings = self.thread_bindings + (stays && self.thread_bindings == 0 ? 1 : 0);
  count_park(*self.on);
  if (self.home != nullptr && !stays) {
    self.home->leave_for(self, *other, after_park, &root);
  } else {
    self.keeps_token = self.home != nullptr;
    switch_to(*self.on, self, *other, after_park, &root);
    self.keeps_token = false;
  }
  await(self, &root, nullptr);
}

}  // namespace sukima::detail
