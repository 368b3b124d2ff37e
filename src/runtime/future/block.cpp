// SPDX-License-Identifier: Apache-2.0
// Futures of blocks: how they are touched, and how they end with their block. Protocol: future.hpp.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "choice/backtrack.hpp"
#include "choice/poll.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "future/future.hpp"
#include "join/give_away.hpp"
#include "join/join.hpp"
#include "steal/injector.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/group.hpp>

#include <sukima/errors.hpp>

#include <utility>

namespace sukima::detail {

namespace {

const char* const touches_itself =
    "sukima: a future was touched in its own expression, which would wait for itself; touch it elsewhere";

/// Whether this task was split off from the expression that begins at `begin` in that fiber. The caller has
/// read that the expression has not ended.
bool is_from(const task& t, const fiber& owner, const char* begin) noexcept {
  if (t.owner != &owner || t.owner_segment == all_ones) return false;  // all_ones: its parent decides
  // A call without a context stops the fiber, so it belongs to the youngest code there.
  return t.origin == nullptr || reinterpret_cast<const char*>(t.origin) >= begin;
}

/// Whether the running task computes a part of that future's expression. The expression runs as a task, which
/// is the running task or an ancestor of it, or in the future's own fiber, from which such an ancestor was
/// split off.
bool is_within(const fiber& s, const future_point* r) noexcept {
  const std::uintptr_t runs_as = r->cell->runs_as.load(std::memory_order_relaxed);
  const bool in_place = (runs_as & future_cell::in_place) != 0;
  const auto* const begin = reinterpret_cast<const char*>(runs_as & ~future_cell::in_place);
  const fiber& owner = fiber_of(r);
  for (const task* t = s.running; t != nullptr; t = t->parent)
    if (t->origin == r || (in_place && is_from(*t, owner, begin))) return true;
  return false;
}

/// Whether no worker can split the choice point: its fiber is parked until a call without a context below it
/// has ended, and the running fiber is within that call.
bool is_out_of_reach(const fiber& s, const future_point* r) noexcept {
  const fiber& owner = fiber_of(r);
  for (const task* t = s.running; t != nullptr; t = t->parent)
    if (t->owner == &owner)
      return t->origin == nullptr && t->owner_segment <= reinterpret_cast<const char*>(r);
  return false;
}

/// Whether the running task descends from a task that was split off from a younger choice point of the
/// future's fiber. While it runs, that fiber ends the future by a CAS (future_cell::end_in_place).
bool has_split_within(const fiber& s, const future_point* r) noexcept {
  const fiber& owner = fiber_of(r);
  for (const task* t = s.running; t != nullptr; t = t->parent)
    if (t->owner == &owner && t->kind != nullptr && t->origin > r) return true;
  return false;
}

/// Called before a thread that does not run the future's fiber changes the future's state.
/// \param s  the running fiber; null: an ordinary thread
void claim_from(const fiber* s, const future_point* r) noexcept {
  if (s == nullptr || !has_split_within(*s, r)) future_waiting::claim(*r->cell, r);
}

const future_kind& kind_of_future(const future_point* r) noexcept {
  return *static_cast<const future_kind*>(kind_of(r));
}

}  // namespace

void give_futures_away(fiber& s, char* top) noexcept {
  const auto* const end = reinterpret_cast<const choice_point*>(top);
  const auto has_open_future = [&] {
    for (auto* r = reinterpret_cast<choice_point*>(s.oldest); r < end; r = above(r))
      if (kind_of(r)->is_future && kind_of(r)->open(r)) return true;
    return false;
  };
  while (has_open_future())
    if (give_work_away(s, reinterpret_cast<choice_point*>(top), 1, queue_end::back) == 0) return;
}

void throw_end(const future_cell& cell) {
  if (cell.how() == future_end::error) std::rethrow_exception(cell.error);
  // The same abort may also affect the caller.
  fiber* const s = running_fiber();
  if (s != nullptr) {
    look_for_abort(*s);
    if (s->abort_pending && must_leave(*s)) {
      s->on->count_abort();
      throw aborted{};
    }
  }
  throw cancelled("sukima: a cancelled future was touched");
}

bool begin_future(future_task& t) noexcept {
  t.cell->runs_as.exchange(reinterpret_cast<std::uintptr_t>(static_cast<task*>(&t)),
                           std::memory_order_seq_cst);
  stress_point();
  return (t.cell->state_.load(std::memory_order_seq_cst) & future_cell::done) == 0;
}

void end_future_task(future_task& t) noexcept {
  fiber& s = *running_fiber();
  if (s.failure && !t.cell->error) [[unlikely]] {  // no join came after the failure
    t.cell->error = std::exchange(s.failure, nullptr);
    s.oldest_ended_loop = all_ones;
  }
  future_waiting::end(*t.cell, t.cell->error ? future_end::error : future_end::value);
}

void drop_future_task(task& t) noexcept {
  future_waiting::end(*static_cast<future_task&>(t).cell, future_end::cancelled);
}

bool touch_future(char* top, future_point* point) {
  fiber* const current = running_fiber();
  // A call of another runtime may keep the future's fiber from computing it.
  if (current == nullptr || current->runtime != fiber_of(point).runtime)
    throw usage_error("sukima: a future of a block can be touched only inside its runtime");
  fiber& s = *current;
  future_cell& cell = *point->cell;
  if (&fiber_of(point) != &s) {
    if (cell.is_done()) return false;
    if (is_within(s, point)) throw usage_error(touches_itself);
    if (is_out_of_reach(s, point))
      throw usage_error(
          "sukima: a call without a context touched a future of its caller; pass the context to that "
          "call");
    claim_from(&s, point);
    wait_for_end(top, cell);
    return false;
  }
  if (top == nullptr) top = s.ambient->top;
  if (top == nullptr)
    throw usage_error("sukima: code with a context must pass it to the future that it touches: touch(c)");
  if (!was_split(point)) {
    // Its captures are destroyed, and it has not ended: this is its expression.
    if (!kind_of(point)->open(point) || kind_of(point)->split == nullptr) throw usage_error(touches_itself);
    return true;
  }
  task* const t = newest_child(point);
  if (reclaim(s, t)) {
    kind_of(point)->reclaim(point, t);
    return !cell.is_done();
  }
  if (is_within(s, point)) throw usage_error(touches_itself);
  if (has_open_work(s, top)) {
    wait_for_end(top, cell);
    return false;
  }
  await(s, t, top);
  s.limit.request_poll();  // an abort that cannot take effect here does so later
  if (s.abort_pending && must_leave(s)) {
    s.on->count_abort();
    throw aborted{};
  }
  return false;
}

bool end_future(future_point* point, bool fails) noexcept {
  fiber& s = fiber_of(point);
  SUKIMA_ASSERT(running_fiber() == &s, "a future ends on the fiber that made it");
  future_cell& cell = *point->cell;
  task* t = was_split(point) ? newest_child(point) : nullptr;
  if (t != nullptr && reclaim(s, t)) {
    kind_of(point)->reclaim(point, t);
    t = nullptr;
  }
  if (t == nullptr && kind_of(point)->split != nullptr) {
    const future_kind& kind = kind_of_future(point);
    if (!fails && !cell.is_done()) return true;
    point->word = reinterpret_cast<std::uintptr_t>(kind.spent);
    kind.destroy(point);
  }
  poll_slow(s, point, point, poll_place::join);
  if (t != nullptr) {
    const future_kind& kind = *static_cast<const future_kind*>(t->kind);
    if (fails && !is_done(t)) {
      t->cancelled.store(true, std::memory_order_release);
      request_abort_checks(*s.runtime);
    }
    if (!fails) give_older_away(s, point, *t);
    // Null: no task may run on top of a fiber that unwinds, because no abort would reach the task there.
    await(s, t, fails ? nullptr : reinterpret_cast<char*>(above(point)));
    point->word = reinterpret_cast<std::uintptr_t>(kind.spent);
    t->destroy(t);
    kind.destroy(point);
    s.limit.request_poll();
  }
  future_waiting::end(cell, future_end::cancelled);  // does nothing if the future has ended
  return false;
}

void cancel_future(future_point& point) noexcept {
  future_cell& cell = *point.cell;
  if (const fiber* const s = running_fiber(); s != &fiber_of(&point)) claim_from(s, &point);
  future_waiting::end(cell, future_end::cancelled);
  cell.state_.fetch_or(0, std::memory_order_seq_cst);
  stress_point();
  const std::uintptr_t runs_as = cell.runs_as.load(std::memory_order_seq_cst);
  if (runs_as == 0 || (runs_as & future_cell::in_place) != 0 || cell.how() != future_end::cancelled) return;
  auto* const t = reinterpret_cast<task*>(runs_as);
  t->cancelled.store(true, std::memory_order_release);
  request_abort_checks(*t->owner->runtime);
}

char* take_ambient_room(std::size_t size) {
  require_fiber("sukima: a future can be made only inside a runtime; call sukima::run around it");
  ambient_state* const ambient = find_ambient();
  if (ambient->top == nullptr)
    throw usage_error("sukima: code with a context must pass it to its futures: future f(c, …)");
  char* const at = ambient->top;
  ambient->top += size;
  ++ambient->uses;
  return at;
}

}  // namespace sukima::detail
