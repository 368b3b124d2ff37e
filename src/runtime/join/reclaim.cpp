// SPDX-License-Identifier: Apache-2.0
// Takes back a task that no worker has taken. Protocol: join.hpp.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "fiber/fiber.hpp"
#include "join/join.hpp"
#include "worker.hpp"

namespace sukima::detail {

bool reclaim(fiber& s, task* t) noexcept {
  if (!s.published.reclaim(t)) return false;
  ++s.on->statistics.reclaims;
  return true;
}

bool complete_if_unbegun(fiber& s, choice_point* r, task* t) noexcept {
  if (!reclaim(s, t)) return false;
  SUKIMA_ASSERT(t->joining.load(std::memory_order_relaxed) == 0,
                "no fiber waits for a task that is in a slot");
  unmask(*s.runtime, *t);
  execute(s, t, reinterpret_cast<char*>(above(r)));
  if (t->error) {
    lower_abort(*s.running, r);
    request_abort_checks(*s.runtime);
  }
  t->joining.store(join_done, std::memory_order_relaxed);
  return true;
}

bool reclaim_child(choice_point* r) noexcept {
  fiber& s = fiber_of(r);
  if (s.abort_pending || s.failure) return false;
  task* const t = newest_child(r);
  if (!reclaim(s, t)) return false;
  kind_of(r)->reclaim(r, t);
  return true;
}

}  // namespace sukima::detail
