// SPDX-License-Identifier: Apache-2.0
// Running a task to its end, in a segment of its own. Protocol: join.hpp.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "choice/poll.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "join/call_task.hpp"
#include "join/join.hpp"
#include "park/park.hpp"
#include "park/park_parts.hpp"
#include "place/place_events.hpp"
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

void keep_failure(fiber& self, task& ended) noexcept {
  if (!self.failure) [[likely]]
    return;
  // No join came after it.
  if (!ended.error) ended.error = self.failure;
  self.failure = nullptr;
  self.oldest_ended_loop = all_ones;
}

/// execute() on a fiber with a pending failure, which waits for a join below the task.
[[gnu::cold, gnu::noinline]] void execute_beside_failure(fiber& self, task* begun, char* top) noexcept {
  std::exception_ptr failure = std::exchange(self.failure, nullptr);
  char* const failed_at = self.failed_at;
  char* const ended_loop = std::exchange(self.oldest_ended_loop, all_ones);
  execute(self, begun, top);
  self.failure = std::move(failure);
  self.failed_at = failed_at;
  self.oldest_ended_loop = ended_loop;
  look_for_abort(self);
}

}  // namespace

void begin_announced(fiber& self, root_task& root) noexcept {
  SUKIMA_ASSERT(self.segment == self.base && self.running == nullptr, "an unannounced fiber has no task");
  park_parts& r = parts_of<park_parts>(self);
  self.running = &root;
  root.runner.store(self.on, std::memory_order_relaxed);
  // As in execute(). The limit is raised, so the next poll reads all requests.
  if (r.target.count() > 1) self.publish_wanted.store(true, std::memory_order_relaxed);
  self.abort_pending = is_task_concerned(&root);
  if (r.hints.in_use()) [[unlikely]]
    r.hints.arrives(self);
}

void end_announced(fiber& self, root_task& root) noexcept {
  keep_failure(self, root);
  SUKIMA_ASSERT(self.running == &root && self.segment == self.base,
                "a task leaves its fiber's segment as it was");
  SUKIMA_ASSERT(self.innermost == nullptr, "a task ends each frame with a hint that it began");
  self.oldest = self.base;
  self.running = nullptr;
}

void execute(fiber& self, task* begun, char* top) noexcept {
  SUKIMA_ASSERT(running_fiber() == &self, "a fiber's task runs on that fiber");
  SUKIMA_ASSERT(!is_done(begun), "a task is run once");
  park_parts& r = parts_of<park_parts>(self);
  char* const outer_segment = self.segment;
  char* const outer_oldest = self.oldest;
  task* const outer_task = self.running;
  if (self.failure) [[unlikely]] {
    execute_beside_failure(self, begun, top);
    return;
  }
  self.segment = top;
  self.oldest = top;
  self.running = begun;
  begun->runner.store(self.on, std::memory_order_relaxed);
  takes_over(begun);  // pairs with: split_oldest in backtrack.cpp; add_child in group.cpp
  // The first fork of a task is published even if no worker is idle. The task may not poll again for a long
  // time, and other workers may become idle soon.
  const bool ahead = r.target.count() > 1;
  if (ahead) self.publish_wanted.store(true, std::memory_order_relaxed);
  self.steps.forget();
  if (!ahead) self.limit.begin_limit(true_limit(self));
  // A fiber that begins has neither a shield nor a choice point that could have been aborted.
  if (outer_task == nullptr)
    self.abort_pending = is_task_concerned(begun);
  else
    look_for_abort(self);
  // begin_limit may have overwritten a raised limit: read all requests.
  if (ahead || self.abort_pending || r.park.has_idle_workers() ||
      self.on->flags.load(std::memory_order_seq_cst) != 0 || self.on->mailbox.has_request())
    self.limit.request_poll();
  // If hints come into use while the task runs, there was none outside.
  placed* outer_hint = nullptr;
  if (r.hints.in_use()) [[unlikely]] {
    outer_hint = std::exchange(self.innermost, nullptr);
    r.hints.arrives(self);
  }
  if (self.abort_pending && must_leave(self))
    drop_unbegun(*begun);
  else
    call_task(self, *begun, top);
  keep_failure(self, *begun);
  SUKIMA_ASSERT(self.running == begun && self.segment == top, "a task leaves its fiber's segment as it was");
  SUKIMA_ASSERT(running_fiber() == &self, "a fiber's task ends on that fiber");
  SUKIMA_ASSERT(begun->abort_to.load(std::memory_order_seq_cst) == no_choice_point &&
                    begun->shielded_abort_to.load(std::memory_order_seq_cst) == no_choice_point &&
                    begun->shield.load(std::memory_order_seq_cst) == no_choice_point,
                "no abort of a segment's choice points and no shield outlives it");
  self.segment = outer_segment;
  self.oldest = outer_oldest;
  self.running = outer_task;
  SUKIMA_ASSERT(self.innermost == nullptr, "a task ends each frame with a hint that it began");
  if (outer_task == nullptr) return;  // the fiber begins again, or ends
  self.steps.forget();
  if (r.hints.in_use()) [[unlikely]] {
    self.innermost = outer_hint;
    r.hints.arrives(self);
  }
  // A flag that came for the worker during the task was answered for the inner segment only.
  look_for_abort(self);
  self.limit.request_poll();
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
