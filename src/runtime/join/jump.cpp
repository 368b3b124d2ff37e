// SPDX-License-Identifier: Apache-2.0
// The functions of the runtime for code that is left by jumps instead of exceptions. That code determines the
// order in which it is left (src/tascell/throw_and_abort.cpp). The functions here change tasks and fibers.
#include <sukima/detail/jump.hpp>

#include "cancel/abort.hpp"
#include "choice/poll.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "join/give_away.hpp"
#include "join/join.hpp"
#include "worker.hpp"

#include <cstdio>
#include <cstdlib>

namespace sukima::detail {

char* segment_begin(const void* in_choice_stack) noexcept { return fiber_of(in_choice_stack).segment; }

task* segment_task(const void* in_choice_stack) noexcept { return fiber_of(in_choice_stack).running; }

abort_reach pending_abort(const void* in_choice_stack) noexcept {
  fiber& s = fiber_of(in_choice_stack);
  if (s.failure) end_program("sukima: not enough memory to backtrack to an older choice of this fiber\n");
  look_for_abort(s);
  if (!s.abort_pending) return abort_reach::nothing;
  return is_task_concerned(s) ? abort_reach::task : abort_reach::choice_point;
}

task* complete_children(choice_point* r) noexcept {
  fiber& s = fiber_of(r);
  task* const newest = was_split(r) ? newest_child(r) : nullptr;
  bool polled = false;
  // The newest child first: it has the iterations that come next.
  for (task* t = newest; t != nullptr; t = t->older) {
    if (complete_if_unbegun(s, r, t)) continue;
    if (!polled)
      poll_slow(s, r, r, poll_place::join);  // others may have the rest of this fiber's work while it waits
    polled = true;
    give_older_away(s, r, *t);
    await(s, t, reinterpret_cast<char*>(above(r)));
  }
  return newest;
}

task* stop_children(choice_point* r) noexcept {
  fiber& s = fiber_of(r);
  task* const newest = was_split(r) ? newest_child(r) : nullptr;
  if (newest == nullptr) return nullptr;
  for (task* t = newest; t != nullptr; t = t->older) {
    if (reclaim(s, t))
      t->joining.store(join_done, std::memory_order_relaxed);
    else
      t->cancelled.store(true, std::memory_order_release);
  }
  request_abort_checks(*s.runtime);
  char* const top = reinterpret_cast<char*>(above(r));
  for (task* t = newest; t != nullptr; t = t->older) await(s, t, top);
  return newest;
}

void count_abort(choice_point* r) noexcept { fiber_of(r).on->count_abort(); }

void forget_children(choice_point* r, const choice_point_kind* kind) noexcept {
  fiber& s = fiber_of(r);
  r->word = reinterpret_cast<std::uintptr_t>(kind);
  clear_abort(s, r);
  look_for_abort(s);
  s.limit.request_poll();
}

void enter_masked(root_task& root) {
  fiber* const s = running_fiber();
  if (s == nullptr) {
    enter_default(root);
    return;
  }
  // The caller may rely on thread-local state, so neither fiber leaves the thread.
  struct binding {
    fiber& of;
    explicit binding(fiber& p) noexcept : of(p) { ++of.thread_bindings; }
    binding(const binding&) = delete;
    binding& operator=(const binding&) = delete;
    ~binding() { --of.thread_bindings; }
  } const hold(*s);
  root.parent = s->running;
  root.owner = s;
  root.owner_segment = s->segment;
  root.depth = s->running->depth + 1;
  root.cancellation_masked.store(true, std::memory_order_relaxed);  // it has not begun yet
  run_on_new_fiber(*s, root);
  s->limit.request_poll();  // an abort that was requested since takes effect at the next poll
}

const void* running_segment() noexcept {
  const fiber* const s = running_fiber();
  return s != nullptr ? s->segment : nullptr;
}

std::uint32_t running_worker_number() noexcept {
  const fiber* const s = running_fiber();
  return s != nullptr ? s->on->number : 0;
}

void frames_are_left() noexcept {
  if (__asan_handle_no_return != nullptr) [[unlikely]]
    __asan_handle_no_return();
}

void end_program(const char* message) noexcept {
  std::fflush(stdout);
  std::fputs(message, stderr);
  std::_Exit(70);
}

}  // namespace sukima::detail
