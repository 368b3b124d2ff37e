// SPDX-License-Identifier: Apache-2.0
// The loop at the bottom of every fiber.
#include <base/shared/assert.hpp>
#include "fiber/fiber.hpp"
#include "fiber/fiber_parts.hpp"
#include "fiber/switch.hpp"
#include "join/join.hpp"
#include "park/call_home.hpp"
#include "place/place_events.hpp"
#include "steal/publication_slots.hpp"
#include "steal/steal.hpp"
#include "worker.hpp"

#include <sukima/detail/executor.hpp>
#include <sukima/detail/ticks.hpp>

#include <utility>

namespace sukima::detail {

namespace {

/// Ends the use of the fiber; the thread continues with another fiber, or at home. The fiber is later used
/// again from its beginning (`make_fresh`).
[[noreturn]] void end_fiber(worker& w, fiber& self, fiber* next, bool keeps_pages) {
  fiber* const keeps = keeps_pages ? &self : nullptr;
  if (next != nullptr)
    switch_to(w, self, *next, recycle, keeps);
  else
    switch_home(w, self, recycle, keeps);
  __builtin_unreachable();
}

/// Called when the root of the worker's own thread has ended on the fiber where it began: the thread goes
/// home. If the root ended at once, the fiber keeps its pages. It cannot have used many, and counting them
/// would cost more than the entry.
[[noreturn]] void end_own_root(worker& w, fiber& self, task* root) {
  SUKIMA_ASSERT(!self.published.any(max_published), "a root that has ended has joined what it published");
  complete(w, root);
  w.root_ended_at = ticks();
  end_fiber(w, self, nullptr, w.root_ended_at - w.root_began_at < w.runtime->tuned.root_warm_up);
}

/// \param t      the task to run first; null: none
/// \param ended  the task that has just run, if `t` is null; null: none
[[noreturn]] void run_and_look_for_more(fiber& self, task* t, task* ended) {
  for (;;) {
    if (t != nullptr) {
      self.on->enter_state(worker_state::working);
      execute(self, t, self.base);
      ended = std::exchange(t, nullptr);
    }
    if (ended != nullptr) {
      if (self.home != nullptr) self.home->end(self, *static_cast<bound_task*>(ended));
      worker& w = *self.on;
      if (ended->owner == nullptr && static_cast<root_task*>(ended)->home == &w) end_own_root(w, self, ended);
      // If a parked fiber waits for this task, the worker continues with that fiber.
      if (fiber* waiting = complete(w, ended)) end_fiber(w, self, waiting, false);
      ended = nullptr;
    } else if (self.on->hints.offered != nullptr) {
      // This fiber runs because its worker has offered the fiber that it ran before.
      if (fiber* const back = parts_of<fiber_parts>(*self.on).hints.end_offer(*self.on))
        end_fiber(*self.on, self, back, true);
    }
    worker& w = *self.on;
    if (is_called_home(w) || (w.background && w.runtime->life.is_closed()))
      end_fiber(w, self, nullptr, false);
    SUKIMA_ASSERT(self.running == nullptr && !self.published.any(max_published),
                  "a fiber whose task has ended has nothing published");
    const work found = find_work(w, nullptr, permitted_work::anything);
    if (found.runnable != nullptr) {
      w.enter_state(worker_state::working);
      end_fiber(w, self, found.runnable, false);
    }
    if (found.fresh != nullptr) {
      t = found.fresh;
      reset(self);
    }
  }
}

}  // namespace

void worker_loop(fiber& self) { run_and_look_for_more(self, std::exchange(self.first, nullptr), nullptr); }

void worker_loop_after(fiber& self, task& ended) { run_and_look_for_more(self, nullptr, &ended); }

}  // namespace sukima::detail
