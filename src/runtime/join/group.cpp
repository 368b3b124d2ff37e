// SPDX-License-Identifier: Apache-2.0
// What task groups offer to sukima/detail/group.hpp. What happens in a group: group_core.hpp.
#include "cancel/abort.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "join/group_core.hpp"
#include "join/join.hpp"
#include "place/place_events.hpp"
#include "steal/injector.hpp"
#include "steal/steal_parts.hpp"

#include <sukima/cancel.hpp>
#include <sukima/detail/group.hpp>
#include <sukima/fork.hpp>

#include <exception>
#include <utility>

namespace sukima::detail {

namespace {

/// The largest number of children that may wait until a worker runs them.
constexpr std::size_t most_pending = 1024;

}  // namespace

group_core* make_group(char* scope) {
  require_fiber("sukima: a task group can be made only inside a runtime; call sukima::run around it");
  fiber& s = *running_fiber();
  auto* g = new group_core;
  g->runtime = s.runtime;
  ::new (static_cast<void*>(scope)) choice_point{reinterpret_cast<std::uintptr_t>(&scope_kind)};
  // The context moves up over the scope, so older copies of it become invalid.
  g->handed_before = std::exchange(s.ambient->handed, scope + choice_point_alignment);
  g->anchor.parent = s.running;
  g->anchor.owner = &s;
  g->anchor.owner_segment = s.segment;
  g->anchor.origin = reinterpret_cast<choice_point*>(scope);
  g->anchor.depth = s.running->depth + 1;
  g->anchor.cancellation_masked.store(std::uncaught_exceptions() > 0, std::memory_order_relaxed);
  g->anchor.shielded = is_shielded(s);
  return g;
}

char* take_ambient_scope() {
  require_fiber("sukima: a task group can be made only inside a runtime; call sukima::run around it");
  ambient_state* ambient = find_ambient();
  if (ambient->top == nullptr)
    throw usage_error("sukima: code with a context must pass it to its task groups: task_group group(c)");
  char* const scope = ambient->top;
  ambient->top += choice_point_alignment;
  ++ambient->uses;
  return scope;
}

void give_ambient_scope(char* scope) noexcept { ambient_of(scope).top = scope; }

void end_group(group_core* g) noexcept {
  char* const scope = reinterpret_cast<char*>(g->anchor.origin);
  char* const top = scope + choice_point_alignment;
  fiber& s = *g->anchor.owner;
  char* const known_before = s.before_unwinding;
  // The group ends by an exception from after its beginning: older work must be aborted as always.
  if (std::uncaught_exceptions() > 0 && !g->anchor.cancellation_masked.load(std::memory_order_relaxed))
    s.before_unwinding = scope;
  for (;;) {
    {
      const std::lock_guard hold(g->lock);
      if (g->unfinished == 0) break;
    }
    cancel_group(*g);
    g->discard_pending();
    g->wait_for_others(top);
  }
  // A server that no worker has taken runs here. That takes no time, because its group is empty.
  for (group_server& server : g->servers) {
    if (!is_done(&server)) await(s, &server, top);
    takes_over(&server);  // pairs with: complete in complete.cpp
  }
  SUKIMA_ASSERT(g->waiting == nullptr && g->pending == 0, "no fiber waits for a group that ends");
  s.before_unwinding = known_before;
  s.ambient->handed = g->handed_before;
  delete g;
}

bool add_child(group_core& g, group_child* child) {
  g.link_child(*child);
  const fiber* const here = running_fiber();
  place_events& hints = parts_of<steal_parts>(g).hints;
  if (child->place != inherited_place)
    static_cast<void>(hints.in_use() || hints.use());  // without memory for its tables the hint does nothing
  else if (hints.in_use() && here != nullptr)
    child->place = hinted_place(*here);
  hands_over(child);  // pairs with: execute in execute.cpp
  group_server* server = nullptr;
  group_waiter* waiter = nullptr;
  {
    const std::lock_guard hold(g.lock);
    const bool full = g.pending >= most_pending && here != nullptr && here->runtime == g.runtime;
    if (!full) {
      g.push(child);
      if (g.waiting != nullptr)
        waiter = std::exchange(g.waiting, g.waiting->next);
      else
        server = g.wanted_server();
    }
    ++g.unfinished;
    if (waiter == nullptr && !full) g.check();
    if (full) return false;
  }
  if (waiter != nullptr) waiter->resume.resume();
  if (server != nullptr) parts_of<steal_parts>(g).injector.push(server);
  return true;
}

void run_child(group_core& g, group_child* child, context c) {
  g.run(*running_fiber(), child, c.top);
  fork2(c, [] {}, [] {});  // throws if the caller itself was aborted
}

void drop_child(group_core& g, group_child* child) noexcept { g.end(child); }

namespace {

/// Whether the running task is a child of the group, or descends from one.
bool is_within(const fiber& s, const group_core& g) noexcept {
  for (const task* t = s.running; t != nullptr; t = t->parent)
    if (t == &g.anchor) return true;
  return false;
}

}  // namespace

bool wait_group(group_core& g, context c) {
  require_fiber("sukima: a task group can be waited for only inside a runtime");
  // Aborts of its children reach only the workers of its own runtime.
  if (running_fiber()->runtime != g.runtime)
    throw usage_error(
        "sukima: a task group was waited for in a call of another runtime; wait for it outside that call");
  const std::size_t before = g.cancellations_so_far();
  for (;;) {
    if (group_child* child = g.take(group_core::order::newest)) {
      g.run(*running_fiber(), child, c.top);
      fork2(c, [] {}, [] {});
      continue;
    }
    {
      const std::lock_guard hold(g.lock);
      if (g.unfinished == 0) break;
    }
    if (is_within(*running_fiber(), g))
      throw usage_error(
          "sukima: a child of a task group waits for that group, which would wait for itself; let code "
          "outside its children wait");
    g.wait_for_others(c.top);
  }
  fork2(c, [] {}, [] {});  // throws if the caller has been aborted since
  return g.finish_waiting(before);
}

void cancel_group(group_core& g) noexcept {
  hands_over(&g.anchor.cancelled);  // pairs with: finish_waiting, group_is_cancelled
  if (!g.anchor.cancelled.exchange(true, std::memory_order_seq_cst)) request_abort_checks(*g.runtime);
}

bool group_is_cancelled(const group_core& g) noexcept {
  if (!g.cancelled()) return false;
  takes_over(&g.anchor.cancelled);  // partner: cancel_group
  return true;
}

bool group_follows_hints(const group_core& g) noexcept {
  return g.runtime->chosen.placement != placement_policy::off;
}

void require_fiber(const char* message) {
  if (running_fiber() == nullptr) throw usage_error(message);
}

}  // namespace sukima::detail
