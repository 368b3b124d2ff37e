// SPDX-License-Identifier: Apache-2.0
// Running a task to its end, in a segment of its own. Protocol: join.hpp.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "choice/poll.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "join/join.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "rooms.hpp"
#include "worker.hpp"

#include <sukima/detail/future.hpp>

#include <exception>
#include <utility>

namespace sukima::detail {

namespace {

[[gnu::cold, gnu::noinline]] void drop_unbegun(task& t) noexcept {
  t.aborted = true;
  if (t.kind != nullptr && t.kind->is_future) drop_future_task(t);
}

}  // namespace

void execute(fiber& s, task* t, char* top) noexcept {
  SUKIMA_ASSERT(running_fiber() == &s, "a fiber's task runs on that fiber");
  SUKIMA_ASSERT(!is_done(t), "a task is run once");
  runtime_core& r = *s.runtime;
  char* const outer_segment = s.segment;
  char* const outer_oldest = s.oldest;
  task* const outer_task = s.running;
  std::exception_ptr outer_failure;
  char* outer_ended_loop = all_ones;
  if (s.failure) [[unlikely]] {
    outer_failure = std::exchange(s.failure, nullptr);
    outer_ended_loop = std::exchange(s.oldest_ended_loop, all_ones);
  }
  s.segment = top;
  s.oldest = top;
  s.running = t;
  t->runner.store(s.on, std::memory_order_relaxed);
  takes_over(t);  // pairs with: split_oldest in backtrack.cpp; add_child in group.cpp
  // The first fork of a task is published even if no worker is idle: the task may not poll again for long,
  // and other workers may become idle soon.
  const bool ahead = r.target.count() > 1;
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
    s.oldest_ended_loop = all_ones;
  }
  if (outer_failure) [[unlikely]] {
    s.failure = std::move(outer_failure);
    s.oldest_ended_loop = outer_ended_loop;
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

void enter_within(fiber& s, root_task& root) {
  if (s.ambient->top == nullptr) {
    enter_on_new_fiber(root);
    return;
  }
  const ambient_context taken(*s.ambient);
  ++s.ambient->uses;
  root.run(&root, taken.outer());
}

}  // namespace sukima::detail
