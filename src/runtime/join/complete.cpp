// SPDX-License-Identifier: Apache-2.0
// Completes a task, and wakes the fiber or thread that waits for it. Protocol: join.hpp.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "join/join.hpp"
#include "join/join_parts.hpp"
#include "park/call_home.hpp"
#include "park/park.hpp"
#include "remote/node_events.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/travel.hpp>

namespace sukima::detail {

namespace {

/// If the task ended by an exception, the work that its owner has begun since the split is aborted, too. The
/// owner cannot leave that choice point before `done`.
void abort_owner_after_error(runtime_core& r, const task& t) noexcept {
  if (!t.error || t.parent == nullptr || t.origin == nullptr) return;
  if (t.kind != nullptr && t.kind->is_future) return;  // touches rethrow, and no join would clear the abort
  lower_abort(*t.parent, t.origin);
  request_abort_checks(r);
}

}  // namespace

void complete_given_away(runtime_core& r, task* t) noexcept {
  hands_over(t);  // pairs with: await in await.cpp
  abort_owner_after_error(r, *t);
  const lifetime::resuming keep(r.life);
  stress_point();
  const std::uintptr_t waiter = t->joining.exchange(join_done, std::memory_order_acq_rel);
  SUKIMA_ASSERT(waiter != join_done, "a task ends once");
  if ((waiter & join_sleeper_mark) != 0) unpark(*reinterpret_cast<worker*>(waiter & ~join_sleeper_mark));
  if ((waiter & join_parked_mark) == 0) return;
  parts_of<join_parts>(r).parked.remove();
  make_runnable(*reinterpret_cast<fiber*>(waiter & ~join_parked_mark));
}

fiber* complete(worker& by, task* ended) noexcept {
  hands_over(ended);  // pairs with: await in await.cpp; try_enter in entries.cpp
  abort_owner_after_error(*by.runtime, *ended);
  if (ended->owner == nullptr) {
    // A root whose thread waits at home. The thread leaves only after it has read its flag, and the root is
    // then freed. The present thread goes home by itself (worker_loop).
    worker* home = static_cast<root_task*>(ended)->home;
    SUKIMA_ASSERT(!is_done(ended), "a task ends once");
    ended->joining.store(join_done, std::memory_order_release);
    if (home == &by) return nullptr;
    stress_point();
    call_home(*home);
    return nullptr;
  }
  stress_point();
  if (ended->joining.load(std::memory_order_relaxed) == join_launched) {  // it stays so: nothing waits
    ended->destroy(ended);
    return nullptr;
  }
  const std::uintptr_t waiter = ended->joining.exchange(join_done, std::memory_order_acq_rel);
  SUKIMA_ASSERT(waiter != join_done, "a task ends once");
  if (waiter == join_received) {
    parts_of<join_parts>(by).remote.received_ended(*static_cast<received_task*>(ended));
    return nullptr;
  }
  if ((waiter & join_sleeper_mark) != 0) unpark(*reinterpret_cast<worker*>(waiter & ~join_sleeper_mark));
  if ((waiter & join_parked_mark) == 0) return nullptr;
  parts_of<join_parts>(by).parked.remove();
  auto* const parked = reinterpret_cast<fiber*>(waiter & ~join_parked_mark);
  if (parked->home == nullptr || parked->keeps_token) return parked;
  make_runnable(*parked);  // only its executor may continue it
  return nullptr;
}

}  // namespace sukima::detail
