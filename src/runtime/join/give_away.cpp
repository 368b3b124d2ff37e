// SPDX-License-Identifier: Apache-2.0
#include "join/give_away.hpp"

#include "cancel/abort.hpp"
#include "choice/backtrack.hpp"
#include "constants.hpp"
#include "fiber/switch.hpp"
#include "join/joining.hpp"
#include "remote/node_events.hpp"
#include "steal/steal.hpp"
#include "steal/steal_parts.hpp"
#include "worker.hpp"

namespace sukima::detail {

void hand_over(fiber& s) noexcept {
  inject_published(s);
  switch_home(
      *s.on, s, [](worker& w, fiber* from, void*) { parts_of<steal_parts>(w).injector.push(from); }, nullptr);
  look_for_abort(s);  // while it did not run, flags went to the workers
}

unsigned give_work_away(fiber& s, choice_point* end, unsigned most, queue_end to) noexcept {
  unsigned given = 0;
  for (; given < most; ++given) {
    task* t = split_oldest(s, end, nullptr, *s.on);
    if (t == nullptr) break;
    ++s.on->statistics.promotions;
    parts_of<steal_parts>(s).injector.push(t, to);
  }
  s.limit.request_poll();  // the next poll writes the true limit
  return given;
}

void give_older_away(fiber& s, choice_point* r, const task& awaited) noexcept {
  if (parts_of<steal_parts>(s).remote.is_attached() && !is_done(&awaited))
    give_work_away(s, r, tuning::max_tasks_given_by_blocking, queue_end::back);
}

}  // namespace sukima::detail
