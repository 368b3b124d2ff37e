// SPDX-License-Identifier: Apache-2.0
// Joining: running a task to its end, waking its waiter, waiting while doing other work. Protocol: join.hpp.
#include "join/join.hpp"

#include "assert.hpp"
#include "cancel/abort.hpp"
#include "choice/poll.hpp"
#include "control/blocking_compensation.hpp"
#include "control/worker_controller.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "lifecycle.hpp"
#include "observe/trace.hpp"
#include "park/park.hpp"
#include "place/hints.hpp"
#include "remote/remote_interface.hpp"
#include "rooms.hpp"
#include "steal/injector.hpp"
#include "steal/steal.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/executor.hpp>
#include <sukima/detail/future.hpp>

#include <optional>
#include <system_error>

namespace sukima::detail {

namespace {

/// `then` of a fiber that parks for a task.
void after_park(worker& w, fiber* from, void* argument) {
  auto* awaited = static_cast<task*>(argument);
  runtime_core& r = *w.runtime;
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
  w.runtime->parked.add();
}

[[gnu::cold, gnu::noinline]] void drop_unbegun(task& t) noexcept {
  t.aborted = true;
  if (t.kind != nullptr && t.kind->is_future) drop_future_task(t);
}

}  // namespace

bool descends(const task* t, const task* from) noexcept {
  while (t != nullptr && t->depth > from->depth) t = t->parent;
  return t == from;
}

void execute(fiber& s, task* t, char* top) noexcept {
  SUKIMA_ASSERT(running_fiber() == &s, "a fiber's task runs on that fiber");
  SUKIMA_ASSERT(!is_done(t), "a task is run once");
  runtime_core& r = *s.runtime;
  char* const outer_segment = s.segment;
  char* const outer_oldest = s.oldest;
  task* const outer_task = s.running;
  std::exception_ptr outer_failure;
  char* outer_taken_up_to = all_ones;
  if (s.failure) [[unlikely]] {
    outer_failure = std::exchange(s.failure, nullptr);
    outer_taken_up_to = std::exchange(s.taken_up_to, all_ones);
  }
  s.segment = top;
  s.oldest = top;
  s.running = t;
  t->runner.store(s.on, std::memory_order_relaxed);
  takes_over(t);  // pairs with: split_oldest in backtrack.cpp; add_child in group.cpp
  // The first fork of a task is published even if no worker is idle: the task may not poll again for long,
  // and other workers may become idle soon.
  const bool ahead = r.controller.target() > 1;
  if (ahead) s.publish_wanted.store(true, std::memory_order_relaxed);
  s.steps.forget();
  if (!ahead) s.limit.begin_limit(true_limit(s));
  // A fiber that begins has neither a shield nor a choice point that could have been aborted.
  if (outer_task == nullptr)
    s.abort_pending = is_task_concerned(t);
  else
    look_for_abort(s);
  // begin_limit may have wiped out a request: read all wishes.
  if (ahead || s.abort_pending || r.park.has_idle_workers() ||
      s.on->flags.load(std::memory_order_seq_cst) != 0 || s.on->mailbox.has_request())
    s.limit.request_poll();
  // If hints come into use while the task runs, there was none outside.
  placed* outer_hint = nullptr;
  if (r.hints.in_use()) [[unlikely]] {
    outer_hint = std::exchange(s.innermost, nullptr);
    r.hints.arrives(s);
  }
  try {
    const ambient_context none(*s.ambient);
    if (s.abort_pending && must_leave(s))
      drop_unbegun(*t);
    else
      t->run(t, context{top});
  } catch (const aborted&) {
    t->aborted = true;
  } catch (...) {
    t->error = std::current_exception();
  }
  if (s.failure) [[unlikely]] {  // no join came after it
    if (!t->error) t->error = s.failure;
    s.failure = nullptr;
    s.taken_up_to = all_ones;
  }
  if (outer_failure) [[unlikely]] {
    s.failure = std::move(outer_failure);
    s.taken_up_to = outer_taken_up_to;
  }
  SUKIMA_ASSERT(s.running == t && s.segment == top, "a task leaves its fiber's segment as it was");
  SUKIMA_ASSERT(running_fiber() == &s, "a fiber's task ends on that fiber");
  SUKIMA_ASSERT(t->abort_to.load(std::memory_order_seq_cst) == no_choice_point &&
                    t->shielded_abort_to.load(std::memory_order_seq_cst) == no_choice_point &&
                    t->shield.load(std::memory_order_seq_cst) == no_choice_point,
                "no abort of a segment's choice points and no shield outlives it");
  s.segment = outer_segment;
  s.oldest = outer_oldest;
  s.running = outer_task;
  SUKIMA_ASSERT(s.innermost == nullptr, "a task ends each frame with a hint that it began");
  if (outer_task == nullptr) return;  // the fiber begins anew, or ends
  s.steps.forget();
  if (r.hints.in_use()) [[unlikely]] {
    s.innermost = outer_hint;
    r.hints.arrives(s);
  }
  // A flag that came for the worker during the task was answered for the inner segment only.
  look_for_abort(s);
  s.limit.request_poll();
}

namespace {

/// If the task ended by an exception, all that its owner does since the split is aborted, too. The owner
/// cannot leave that choice point before `done`.
void abort_owner_after_error(runtime_core& r, const task& t) noexcept {
  if (!t.error || t.parent == nullptr || t.origin == nullptr) return;
  if (t.kind != nullptr && t.kind->is_future) return;  // touches get it, and no join would clear the abort
  lower_abort(*t.parent, t.origin);
  request_abort_checks(r);
}

}  // namespace

void complete_given_away(runtime_core& r, task* t) noexcept {
  hands_over(t);  // pairs with: await
  abort_owner_after_error(r, *t);
  const lifecycle::resuming keep(r.life);
  stress_point();
  const std::uintptr_t waiter = t->joining.exchange(join_done, std::memory_order_acq_rel);
  SUKIMA_ASSERT(waiter != join_done, "a task ends once");
  if ((waiter & join_sleeper_mark) != 0) unpark(*reinterpret_cast<worker*>(waiter & ~join_sleeper_mark));
  if ((waiter & join_parked_mark) == 0) return;
  r.parked.remove();
  make_runnable(*reinterpret_cast<fiber*>(waiter & ~join_parked_mark));
}

fiber* complete(worker& w, task* t) noexcept {
  hands_over(t);  // pairs with: await; try_enter in entry.cpp
  abort_owner_after_error(*w.runtime, *t);
  if (t->owner == nullptr) {
    // A root whose thread waits at home. The thread leaves when it sees its flag, not before; the root is
    // gone then. This thread goes home by itself (worker_loop).
    worker* home = static_cast<root_task*>(t)->home;
    SUKIMA_ASSERT(!is_done(t), "a task ends once");
    t->joining.store(join_done, std::memory_order_release);
    if (home == &w) return nullptr;
    stress_point();
    home->flags.fetch_or(flag_leave, std::memory_order_seq_cst);
    if (fiber* s = home->current.load(std::memory_order_seq_cst)) s->limit.request_poll();
    unpark(*home);
    return nullptr;
  }
  stress_point();
  const std::uintptr_t waiter = t->joining.exchange(join_done, std::memory_order_acq_rel);
  SUKIMA_ASSERT(waiter != join_done, "a task ends once");
  if (waiter == join_received) {
    w.runtime->remote.received_ended(*static_cast<received_task*>(t));
    return nullptr;
  }
  if (waiter == join_launched) {
    t->destroy(t);
    return nullptr;
  }
  if ((waiter & join_sleeper_mark) != 0) unpark(*reinterpret_cast<worker*>(waiter & ~join_sleeper_mark));
  if ((waiter & join_parked_mark) == 0) return nullptr;
  w.runtime->parked.remove();
  auto* const parked = reinterpret_cast<fiber*>(waiter & ~join_parked_mark);
  if (parked->home == nullptr || parked->keeps_token) return parked;
  make_runnable(*parked);  // only its executor may continue it
  return nullptr;
}

void await(fiber& s, task* t, char* top) noexcept {
  SUKIMA_ASSERT(running_fiber() == &s, "a fiber waits on its own stack");
  runtime_core& r = *s.runtime;
  inject_published(s);  // thieves would not find them on a fiber that does not run
  if (t->origin != nullptr) unmask(r, *t);
  bool patient = true;
  std::optional<bound_wait> passes_on;  // since it finds what another fiber has to run
  while (!is_done(t)) {
    worker& w = *s.on;
    if (s.home != nullptr && s.thread_bindings == 0) {
      // Others of its executor go on.
      count_park(w);
      if (s.home->leave(s, after_park, t)) continue;
      r.parked.remove();
    }
    const bool full = r.parked.now() >= r.chosen.fibers;
    const reach allowed = s.thread_bindings != 0 ? reach::thread_bound
                          : full && patient      ? reach::limited
                                                 : reach::anything;
    const work found = find_work(w, t, allowed);
    patient = static_cast<bool>(found) || allowed != reach::limited;
    if (found.fresh != nullptr && top != nullptr && descends(found.fresh, t)) {
      // Delays nothing: the join waits for it anyway. Needs no fiber.
      ++w.statistics.run_on_top;
      execute(s, found.fresh, top);
      fiber* const next = complete(*s.on, found.fresh);
      if (next != nullptr && s.thread_bindings != 0) {
        make_runnable(*next);  // this one stays on its thread
      } else if (next != nullptr) {
        count_park(*s.on);
        switch_to(*s.on, s, *next, after_park, t);
      }
    } else if (found.fresh != nullptr) {
      fiber* other = allowed == reach::anything ? w.take_fiber() : nullptr;
      if (other == nullptr) {
        // The awaited task, or a part of it, but nothing that may run on top of this fiber. If this is the
        // only worker, no other one takes it. So the limit of fibers gives way, and a thread-bound fiber gets
        // another worker in its place.
        if (allowed == reach::limited) patient = false;
        if (allowed == reach::thread_bound) {
          if (!passes_on) passes_on.emplace(r);
          passes_on->look();
        }
        r.injector.push(found.fresh);
        yield();
        continue;
      }
      other->first = found.fresh;
      count_park(w);
      switch_to(w, s, *other, after_park, t);
    } else if (found.runnable != nullptr) {
      count_park(w);
      switch_to(w, s, *found.runnable, after_park, t);
    } else if (!is_done(t) && (w.flags.load(std::memory_order_seq_cst) & flag_leave) != 0 &&
               s.thread_bindings == 0) {
      count_park(w);
      switch_home(w, s, after_park, t);
    }
  }
  SUKIMA_ASSERT(running_fiber() == &s, "a fiber that was parked goes on on its own stack");
  takes_over(t);  // pairs with: complete
  // While the fiber was parked, flags went to the workers and not to it.
  look_for_abort(s);
}

void run_on_new_fiber(fiber& s, root_task& root) {
  root.joining.store(0, std::memory_order_relaxed);
  root.place = hinted_place(s);
  inject_published(s);
  fiber* other = s.on->take_fiber();
  if (other == nullptr)
    throw std::system_error(
        std::make_error_code(std::errc::not_enough_memory),
        "sukima: no fiber for a call without a context below code with one; pass the context on");
  other->first = &root;
  // It stays on this thread if this fiber must be resumed here.
  const bool stays = s.thread_bindings != 0 || (s.home != nullptr && s.home->has_own_thread());
  other->thread_bindings = s.thread_bindings + (stays && s.thread_bindings == 0 ? 1 : 0);
  count_park(*s.on);
  if (s.home != nullptr && !stays) {
    s.home->leave_for(s, *other, after_park, &root);
  } else {
    s.keeps_token = s.home != nullptr;
    switch_to(*s.on, s, *other, after_park, &root);
    s.keeps_token = false;
  }
  await(s, &root, nullptr);
}

void enter_within(fiber& s, root_task& root) {
  if (s.ambient->top == nullptr) {
    enter_on_new_fiber(root);
    return;
  }
  const ambient_context taken(*s.ambient);
  ++s.ambient->uses;
  root.run(&root, taken.outer());
}

bool reclaim(fiber& s, task* t) noexcept {
  if (!s.published.reclaim(t)) return false;
  ++s.on->statistics.reclaims;
  return true;
}

task* join_child(choice_point* r) {
  fiber& s = fiber_of(r);
  if (ignores_join(s, r)) return nullptr;
  const choice_point_kind* kind = kind_of(r);
  task* t = was_split(r) ? newest_child(r) : nullptr;
  if (t != nullptr && reclaim(s, t)) {
    kind->reclaim(r, t);
    // Whatever else is wanted keeps the limit raised: the next poll looks.
    if (!s.abort_pending) return nullptr;
    t = nullptr;
  }
  poll_slow(s, r, r, poll_place::join);
  if (t != nullptr) {
    give_older_away(s, r, *t);
    await(s, t, reinterpret_cast<char*>(above(r)));
  }
  const auto leave = [&] {
    if (t != nullptr) t->destroy(t);
    if (kind->destroy != nullptr) kind->destroy(r);
  };
  if (const std::exception_ptr failure = take_failure(s, r)) {
    if (t != nullptr) clear_abort(s, r);
    look_for_abort(s);  // the program may catch it and go on
    leave();
    std::rethrow_exception(failure);
  }
  if (s.abort_pending || (t != nullptr && (t->aborted || t->error))) {
    if (t != nullptr) clear_abort(s, r);
    if (must_leave(s) || (t != nullptr && t->aborted)) {
      leave();
      s.on->count_abort();
      throw aborted{};
    }
    look_for_abort(s);
    if (t != nullptr && t->error) {
      const std::exception_ptr error = t->error;
      leave();
      std::rethrow_exception(error);
    }
  }
  return t;
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

task* join_children(choice_point* r) {
  fiber& s = fiber_of(r);
  poll_slow(s, r, r, poll_place::join);
  const choice_point_kind* kind = kind_of(r);
  task* const newest = was_split(r) ? newest_child(r) : nullptr;
  // Newest first: it has the iterations that come next. Children that have not begun run here.
  for (task* t = newest; t != nullptr; t = t->older) {
    if (complete_if_unbegun(s, r, t)) continue;
    give_older_away(s, r, *t);
    await(s, t, reinterpret_cast<char*>(above(r)));
  }
  std::exception_ptr error = take_failure(s, r);
  bool child_aborted = false;
  for (task* t = newest; t != nullptr; t = t->older) {
    child_aborted |= t->aborted;
    if (!error) error = t->error;
  }
  if (!s.abort_pending && !error && !child_aborted) return newest;
  clear_abort(s, r);
  const bool gone = must_leave(s);
  look_for_abort(s);
  if (!gone && !error && !child_aborted) return newest;
  for (task* t = newest; t != nullptr;) {
    task* older = t->older;
    t->destroy(t);
    t = older;
  }
  if (kind->destroy != nullptr) kind->destroy(r);
  if (error && !gone) std::rethrow_exception(error);
  s.on->count_abort();
  throw aborted{};
}

}  // namespace sukima::detail
