// SPDX-License-Identifier: Apache-2.0
// Launched futures: their list, their end, and how they are touched and cancelled. Protocol: future.hpp.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "choice/backtrack.hpp"
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "future/future.hpp"
#include "join/join.hpp"
#include "join/join_parts.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "steal/injector.hpp"
#include "steal/steal.hpp"
#include "worker.hpp"

#include <sukima/errors.hpp>

#include <utility>

namespace sukima::detail {

launched_futures::launched_futures(const settings& chosen, const worker_table& workers, parking& park,
                                   const place_events& hints, const abort_listeners& aborts)
    : chosen_(chosen),
      workers_(workers),
      park_(park),
      hints_(hints),
      aborts_(aborts),
      lock_(chosen.policy_at(wait_point::lock)) {}

namespace {

/// A future that was claimed, but cancelled before it began, still has its expression.
[[gnu::noinline]] void end_cancelled(launched& t) noexcept {
  t.discard(&t);
  parts_of<join_parts>(t).launched.ended(t);
}

/// `destroy` of a launched future's task. `complete` calls it last.
void end_launched(task* t) noexcept {
  auto& me = *static_cast<launched*>(t);
  if (me.cell->how() == future_end::cancelled) [[unlikely]]
    return end_cancelled(me);
  parts_of<join_parts>(me).launched.ended(me);
}

const char* const launched_touches_itself =
    "sukima: a launched future was touched in its own expression, which would wait for itself; touch it "
    "elsewhere";

bool is_within(const fiber& s, const launched& t) noexcept {
  for (const task* above = s.running; above != nullptr; above = above->parent)
    if (above == &t) return true;
  return false;
}

/// Whether more than half of the running fiber's C stack is left.
bool has_stack_left(const fiber& s) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return reinterpret_cast<std::uintptr_t>(s.stack_top) - here < s.stack_size / 2;
}

}  // namespace

void drop(launched& t) noexcept {
  future_waiting::end(*t.cell, future_end::cancelled);
  t.discard(&t);
  parts_of<join_parts>(t).launched.ended(t);
}

void hold_for_library(launched& t) noexcept {
  t.references.fetch_add(launched::own_reference, std::memory_order_relaxed);
}

void drop_own_reference(launched& t) noexcept {
  hands_over(&t.references);  // partner: drop_own_reference; drop_handle in the program
  if (t.references.load(std::memory_order_acquire) != launched::own_reference &&
      t.references.fetch_sub(launched::own_reference, std::memory_order_acq_rel) != launched::own_reference)
    return;
  takes_over(&t.references);  // partner: the same
  t.free(&t, freed::all);
}

bool drop_last_handle(launched& t) noexcept {
  const future_end how = future_waiting::how(*t.cell);
  if (how == future_end::value || how == future_end::error) t.free(&t, freed::result);
  hands_over(&t.references);  // partner: drop_own_reference
  if (t.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  takes_over(&t.references);  // partner: the same
  return true;
}

fiber& launched_futures::no_owner() noexcept {
  static fiber never_runs;
  return never_runs;
}

/// Takes a future out of the list of futures that have not begun. \pre the lock is held
void launched_futures::leave_waiting(launched& t) noexcept {
  list& from = list_of(t);
  unlink(t, from.oldest, from.newest);
  t.is_waiting = false;
  if (t.queue == SUKIMA_PLACE_ANY)
    fall(1);
  else
    queued_.fetch_sub(1, std::memory_order_seq_cst);
}

void launched_futures::move_to_begun(launched& t) noexcept {
  leave_waiting(t);
  append(t, begun_.oldest, begun_.newest);
}

/// Begins the oldest future of a list; null: there is none. Moves futures that touches have claimed to the
/// list of begun ones. \pre the lock is held
launched* launched_futures::begin_oldest(list& from) noexcept {
  while (launched* const t = from.oldest) {
    const bool is_mine = begin_once(*t);
    move_to_begun(*t);
    if (is_mine) return t;
  }
  return nullptr;
}

void launched_futures::refuse_if_closed() const {
  if (closed_) throw usage_error("sukima: this runtime was shut down and can launch no more futures");
}

/// \param unfinished  the amount by which `counts_` rises for a future that was not counted before
void launched_futures::enlist(launched& t, std::uint64_t unfinished) noexcept {
  list& to = list_of(t);
  while (to.oldest != nullptr && !to.oldest->unbegun.load(std::memory_order_relaxed))
    move_to_begun(*to.oldest);
  while (to.newest != nullptr && !to.newest->unbegun.load(std::memory_order_relaxed))
    move_to_begun(*to.newest);
  t.is_waiting = true;
  t.unbegun.store(true, std::memory_order_release);
  append(t, to.oldest, to.newest);
  if (t.queue != SUKIMA_PLACE_ANY) queued_.fetch_add(1, std::memory_order_seq_cst);
  if (const std::uint64_t more = unfinished + (t.queue == SUKIMA_PLACE_ANY ? 1 : 0); more != 0) rise(more);
  const std::size_t waiting = pending() + queued_.load(std::memory_order_seq_cst);
  if (waiting > most_waiting()) most_waiting_.store(waiting, std::memory_order_relaxed);
}

void launched_futures::add(launched& t) {
  const std::lock_guard hold(lock_);
  refuse_if_closed();
  // No other thread has a reference yet.
  t.references.store(1 + launched::own_reference, std::memory_order_relaxed);
  enlist(t, one_unfinished);
}

void launched_futures::call_workers(sukima_place queue) noexcept {
  if (queue != SUKIMA_PLACE_ANY)
    call_workers_to(queue);
  else
    park_.wake_for_launch();
}

task* launched_futures::take(const worker& w) noexcept {
  if (queued_.load(std::memory_order_seq_cst) != 0)
    if (launched* const t = take_queued(w)) return t;
  if (pending() == 0) return nullptr;
  const bool hinted = hints_.in_use();
  const std::lock_guard hold(lock_);
  int looked_at = 0;
  for (launched* t = hinted ? waiting_.oldest : nullptr;
       t != nullptr && looked_at < tuning::most_looked_through;) {
    launched& candidate = *std::exchange(t, t->after);
    const bool was_claimed = !candidate.unbegun.load(std::memory_order_relaxed);
    if (!was_claimed) ++looked_at;
    const bool is_mine = !was_claimed && hints_.suits(w, candidate.place) && begin_once(candidate);
    if (was_claimed || is_mine) move_to_begun(candidate);
    if (is_mine) return &candidate;
  }
  return begin_oldest(waiting_);
}

bool launched_futures::withdraw(launched& t) noexcept {
  if (begin_once(t)) return true;
  const std::lock_guard hold(lock_);
  // A future that waited for others may have been added to the list since.
  return begin_once(t) || take_dependent(t);
}

void launched_futures::ended(launched& t) noexcept {
  resumer waiter;
  {
    const std::lock_guard hold(lock_);
    SUKIMA_ASSERT(!t.unbegun.load(std::memory_order_relaxed), "a launched future ends after it has begun");
    if (t.is_waiting)
      leave_waiting(t);
    else
      unlink(t, begun_.oldest, begun_.newest);
    fall(one_unfinished);
    if (is_empty()) waiter = std::exchange(last_, resumer());
  }
  if (waiter) waiter.resume();
  drop_own_reference(t);
}

/// Takes out any future; null: there is none. Takes a dependent future before its sources, so that the end of
/// a source never drops a chain of dependent futures by recursion.
launched* launched_futures::take_any() noexcept {
  for (launched* t = dependent_.newest; t != nullptr; t = t->before)
    if (take_dependent(*t)) return t;
  if (launched* const t = begin_oldest(waiting_)) return t;
  // Futures in the queues of places come after the others.
  for (std::uint32_t p = 0; p < queue_count_; ++p)
    if (launched* const t = begin_oldest(queues_[p])) return t;
  return nullptr;
}

/// Cancels the futures that have begun.
/// \returns a list, linked by `closing`, of the futures whose cells the caller must end. Each has one more
/// reference
launched* launched_futures::cancel_begun() noexcept {
  launched* first = nullptr;
  for (launched* t = begun_.oldest; t != nullptr; t = t->after) {
    hold_for_library(*t);
    t->cancelled.store(true, std::memory_order_release);
    t->closing = std::exchange(first, t);
  }
  return first;
}

void launched_futures::close(char* top) {
  for (;;) {
    launched* t = nullptr;
    {
      const std::lock_guard hold(lock_);
      closed_ = true;
      t = take_any();
    }
    if (t == nullptr) break;
    drop(*t);
  }
  // Their cells are ended without the lock, because futures that depend on them take it.
  launched* begun = nullptr;
  {
    const std::lock_guard hold(lock_);
    begun = cancel_begun();
  }
  while (begun != nullptr) {
    launched& t = *std::exchange(begun, begun->closing);
    future_waiting::end(*t.cell, future_end::cancelled);
    drop_own_reference(t);
  }
  request_abort_checks(aborts_);
  {
    const std::lock_guard hold(lock_);
    if (is_empty()) return;
  }
  auto store = [this](resumer r) {
    {
      const std::lock_guard hold(lock_);
      if (!is_empty()) {
        last_ = r;
        return;
      }
    }
    r.resume();
  };
  suspend_running(
      top, [](void* closure, resumer r) { (*static_cast<decltype(store)*>(closure))(r); }, &store);
}

void prepare_launch(fiber& s, launched& t) {
  join_parts& r = parts_of<join_parts>(s);
  t.runtime = &r;
  t.owner = &r.launched.no_owner();
  t.joining.store(join_launched, std::memory_order_relaxed);
  t.destroy = end_launched;
  if (t.place != inherited_place) {
    if ((r.hints.in_use() || r.hints.use()) && r.chosen.placement == placement_policy::queue)
      r.launched.choose_queue(t);
  } else if (r.hints.in_use()) {
    t.place = hinted_place(s);
  }
  hands_over(static_cast<task*>(&t));  // partner: execute
}

void launch_task(launched& t) {
  in_runtime([&](fiber& s) {
    prepare_launch(s, t);
    const sukima_place queue = t.queue;  // read now, because once added, the future may end and be freed
    launched_futures& all = parts_of<join_parts>(s).launched;
    all.add(t);
    all.call_workers(queue);
  });
}

void touch_launched(char* top, launched& touched, touching how) {
  fiber* const current = running_fiber();
  if (current == nullptr || current->runtime != touched.runtime) {
    if (how == touching::helps && touched.runtime != nullptr)
      compute_from_outside(touched);
    else
      touch_from_outside(top, touched);
    return;
  }
  fiber& s = *current;
  if (is_within(s, touched)) throw usage_error(launched_touches_itself);
  leave_if_aborted(s);  // an aborted caller does not want the result
  // A fiber that cannot leave its worker might keep the only worker that takes from the queue.
  if (touched.queue != SUKIMA_PLACE_ANY && s.home == nullptr && s.thread_bindings == 0)
    return parts_of<join_parts>(touched).launched.wait_for_queued(s, top, touched);
  char* const above = top != nullptr ? top : s.ambient->top;
  if (begin_once(touched)) {
    // On top of a fiber with work to split, the future would cover that work.
    if (s.home == nullptr && s.thread_bindings == 0 && above != nullptr && has_stack_left(s) &&
        !segment_has_open_work(s, above)) {
      ++s.on->statistics.run_on_top;
      inject_published(s);
      execute(s, &touched, above);
      complete(*s.on, &touched);
      if (s.abort_pending && must_leave(s)) {
        s.on->count_abort();
        throw aborted{};
      }
      return;
    }
    parts_of<join_parts>(touched).injector.push(&touched, queue_end::front);
  }
  wait_for_end(top, *touched.cell);
}

void cancel_launched(launched& t) noexcept {
  if (t.cell->is_done()) return;
  if (t.runtime == nullptr) return future_waiting::end(*t.cell, future_end::cancelled);
  if (t.runtime->life.is_orphaned()) return;  // a thread of the parent may have held the lock
  if (parts_of<join_parts>(t).launched.withdraw(t)) return drop(t);
  future_waiting::end(*t.cell, future_end::cancelled);
  t.cancelled.store(true, std::memory_order_release);
  request_abort_checks(*t.runtime);
}

}  // namespace sukima::detail
