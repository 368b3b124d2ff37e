// SPDX-License-Identifier: Apache-2.0
// Task groups: children in a list of the group, run by the fibers that wait for it and by servers.
//
// A server is a task that takes children from its group's list until none is left. A fiber that adds a child
// ensures that one server is in the runtime's injector queue, where idle workers look. A server that takes a
// child queues the next server if there are more children. So a child costs the group's lock, and only one
// server for each idle worker goes through the runtime's queue. The number of servers that have begun has no
// limit: their children may be suspended until a child that has not begun resumes them. A child runs in a
// segment of its own (`execute`), on a server's fiber or on a waiter's; the worker that ran it frees it.
//
// Aborting: a child's parent is the group's anchor, a task that no worker runs. Its owner and origin are the
// fiber and the scope choice point of the group, so an abort from outside reaches the children as it reaches
// a fork's; its `cancelled` is the group's own. A child has no origin of its own: the fiber that made the
// group continues when a child throws, until it waits.
//
// Waiting: a fiber that finds no child to run, but children that others run, suspends itself. The worker that
// ends the last child, and the fiber that adds one, take waiters out of the list under the lock and resume
// them after it. So none is forgotten, and none is resumed twice. The group lives until its servers are done;
// they are joined like any task.
// Long: the children, the servers and the waiters share one lock and one record.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "choice/covered_segment.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "future/future.hpp"
#include "join/join.hpp"
#include "place/place_events.hpp"
#include "runtime_core.hpp"
#include "steal/injector.hpp"

#include <sukima/cancel.hpp>
#include <sukima/detail/group.hpp>
#include <sukima/fork.hpp>
#include <sukima/suspend.hpp>

#include <deque>

namespace sukima::detail {

namespace {

/// Most children that may wait until a worker runs them.
constexpr std::size_t most_pending = 1024;
/// Most ended servers that are tried for a next use: the worker of one may not have marked it as done yet.
constexpr int most_tries = 4;

/// A fiber that waits for a group, in its own frame.
struct group_waiter {
  resumer resume;
  group_waiter* next = nullptr;
};

struct group_server : task {
  group_core* group = nullptr;
  group_server* next_ended = nullptr;  ///< under the group's lock
};

}  // namespace

struct group_core {
  runtime_core* runtime = nullptr;
  task anchor;
  char* handed_before = nullptr;  ///< ambient_state::handed of the code that made the group

  std::mutex lock;  // the rest
  group_child* oldest = nullptr;
  group_child* newest = nullptr;
  std::size_t pending = 0;  ///< in the list
  std::size_t unfinished = 0;  ///< added and not ended
  group_waiter* waiting = nullptr;
  std::exception_ptr error;  ///< the first
  std::deque<group_server> servers;
  group_server* queued = nullptr;  ///< the server that has not begun; or it was aborted before that
  std::size_t cancellations = 0;  ///< that a call of wait has seen, for those that wait at the same time
  [[maybe_unused]] bool out_of_memory = false;  ///< for one more server, once
  group_server* first_ended = nullptr;  ///< those that found no child any more, in that order
  group_server* last_ended = nullptr;

  void push(group_child* child) noexcept {
    child->before = newest;
    child->after = nullptr;
    (newest != nullptr ? newest->after : oldest) = child;
    newest = child;
    ++pending;
  }
  group_child* remove(group_child* child) noexcept {
    if (child == nullptr) return nullptr;
    (child->before != nullptr ? child->before->after : oldest) = child->after;
    (child->after != nullptr ? child->after->before : newest) = child->before;
    --pending;
    return child;
  }
  /// Under the lock, after a server was queued if one was wanted.
  void check() const noexcept {
    SUKIMA_ASSERT((pending == 0) == (oldest == nullptr), "a group's pending children are those in its list");
    SUKIMA_ASSERT(unfinished >= pending, "a child that waits has not ended");
    SUKIMA_ASSERT(pending == 0 || out_of_memory || queued != nullptr, "children have a server queued");
  }
  bool cancelled() const noexcept { return anchor.cancelled.load(std::memory_order_acquire); }

  enum class order { oldest, newest };
  group_child* take(order which) noexcept;
  void add_ended(group_server* server) noexcept;
  group_server* ended_server() noexcept;
  group_server* wanted_server() noexcept;
  void link_child(task& t) const noexcept;
  void end(group_child* child) noexcept;
  void fail(std::exception_ptr e) noexcept;
  void run(fiber& s, group_child* child, char* top) noexcept;
  void run_children(context c);
  std::size_t cancellations_so_far();
  bool finish_waiting(std::size_t before);
  void discard_pending() noexcept;
  void wait_for_others(char* top);
};

/// Takes a child, and queues a server for the others.
group_child* group_core::take(order which) noexcept {
  group_child* child = nullptr;
  group_server* server = nullptr;
  {
    const std::lock_guard hold(lock);
    child = remove(which == order::oldest ? oldest : newest);
    server = wanted_server();
    check();
  }
  if (server != nullptr) runtime->injector.push(server);
  return child;
}

/// Both under the lock.
void group_core::add_ended(group_server* server) noexcept {
  server->next_ended = nullptr;
  (last_ended != nullptr ? last_ended->next_ended : first_ended) = server;
  last_ended = server;
}
/// One that may be used again; null: none is complete yet.
group_server* group_core::ended_server() noexcept {
  for (int tries = 0; first_ended != nullptr && tries < most_tries; ++tries) {
    group_server* const server = first_ended;
    first_ended = server->next_ended;
    if (first_ended == nullptr) last_ended = nullptr;
    if (is_done(server)) return server;
    add_ended(server);
  }
  return nullptr;
}

/// A server to be queued: there are children, and none is queued yet. Under the lock. Null, too, where there
/// is no memory for one: the waiters will do its work.
group_server* group_core::wanted_server() noexcept {
  if (pending == 0 || (queued != nullptr && !is_done(queued))) return nullptr;
  group_server* idle = queued != nullptr ? queued : ended_server();
  if (idle == nullptr) {
    try {
      idle = &servers.emplace_back();
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
      return nullptr;
    }
    idle->group = this;
    idle->run = [](task* self, context c) {
      auto* me = static_cast<group_server*>(self);
      struct service {
        group_server* server;
        explicit service(group_server* begun) noexcept : server(begun) {
          const std::lock_guard hold(server->group->lock);
          server->group->queued = nullptr;
        }
        service(const service&) = delete;
        service& operator=(const service&) = delete;
        ~service() {
          const std::lock_guard hold(server->group->lock);
          server->group->add_ended(server);
        }
      } const in_progress(me);
      me->group->run_children(c);
    };
    idle->destroy = [](task*) noexcept {};
    idle->owner = anchor.owner;
    idle->owner_segment = all_ones;  // not split off at a place: only what its parents say
    idle->parent = anchor.parent;
    idle->depth = anchor.depth;
    idle->cancellation_masked.store(anchor.cancellation_masked.load(std::memory_order_relaxed),
                                    std::memory_order_relaxed);  // it has not begun yet
    idle->shielded = anchor.shielded;
  }
  queued = idle;
  idle->aborted = false;
  idle->runner.store(nullptr, std::memory_order_relaxed);
  idle->joining.store(0, std::memory_order_relaxed);
  return idle;
}

void group_core::link_child(task& t) const noexcept {
  t.parent = const_cast<task*>(&anchor);
  t.owner = anchor.owner;
  t.owner_segment = all_ones;  // not split off at a place: only what the anchor says
  t.depth = anchor.depth + 1;
  t.cancellation_masked.store(false, std::memory_order_relaxed);
}

/// A child has ended; the last one wakes all that wait. They may end the group before this returns.
void group_core::end(group_child* child) noexcept {
  child->destroy(child);
  group_waiter* ready = nullptr;
  {
    const std::lock_guard hold(lock);
    SUKIMA_ASSERT(unfinished > pending, "a child that ends was taken out of the list before");
    if (--unfinished == 0) ready = std::exchange(waiting, nullptr);
  }
  while (ready != nullptr) {
    group_waiter* const next = ready->next;  // in the waiter's frame, which is gone when it runs
    ready->resume.resume();
    ready = next;
  }
}

void group_core::fail(std::exception_ptr e) noexcept {
  {
    const std::lock_guard hold(lock);
    if (!error) error = std::move(e);
  }
  cancel_group(*this);
}

/// Runs a child in a segment of its own that begins at `top`.
void group_core::run(fiber& s, group_child* child, char* top) noexcept {
  if (!cancelled()) {
    give_futures_away(s, top);
    {
      const covered_segment covered(s, top);
      execute(s, child, top);
    }
    if (child->error) fail(std::exchange(child->error, nullptr));
  }
  end(child);
}

void group_core::run_children(context c) {
  group_child* child = take(order::oldest);
  while (child != nullptr) {
    run(*running_fiber(), child, c.top);
    // The fiber's own business between two children: thieves, a thread that is called home.
    fork2(c, [] {}, [] {});
    child = take(order::newest);
  }
}

void group_core::discard_pending() noexcept {
  const auto next = [this] {
    const std::lock_guard hold(lock);
    return remove(newest);
  };
  while (group_child* child = next()) end(child);
}

/// Suspends the running fiber until the last child has ended, or one was added.
void group_core::wait_for_others(char* top) {
  group_waiter me;
  auto store = [&](resumer r) {
    bool over = false;
    {
      const std::lock_guard hold(lock);
      over = unfinished == 0 || pending != 0;
      if (!over) {
        me.resume = r;
        me.next = waiting;
        waiting = &me;
      }
    }
    if (over) r.resume();
  };
  // Not `suspend`, whose checked mode wants the context of a user's function: this one may have none.
  suspend_running(
      top, [](void* closure, resumer r) { (*static_cast<decltype(store)*>(closure))(r); }, &store);
}

std::size_t group_core::cancellations_so_far() {
  const std::lock_guard hold(lock);
  return cancellations;
}

/// All children have ended, as far as this one sees.
/// \param before  the cancellations when it began to wait
/// \returns whether nothing was cancelled since
bool group_core::finish_waiting(std::size_t before) {
  std::exception_ptr first;
  bool whole = true;
  {
    const std::lock_guard hold(lock);
    if (unfinished == 0) {
      first = std::exchange(error, nullptr);
      takes_over(&anchor.cancelled);  // pairs with: cancel_group
      if (anchor.cancelled.exchange(false, std::memory_order_seq_cst)) ++cancellations;
      whole = cancellations == before;
    }
  }
  if (first) std::rethrow_exception(first);
  return whole;
}

group_core* make_group(char* scope) {
  require_fiber("sukima: a task group can be made only inside a runtime; call sukima::run around it");
  fiber& s = *running_fiber();
  auto* g = new group_core;
  g->runtime = s.runtime;
  ::new (static_cast<void*>(scope)) choice_point{reinterpret_cast<std::uintptr_t>(&scope_kind)};
  // The context moves up over the scope: an older copy of it is not right any more.
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
    throw usage_error("sukima: a task group in code with a context needs it: task_group group(c)");
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
  // A server that no worker has taken runs here, in no time: its group is empty.
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
  place_events& hints = g.runtime->hints;
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
  if (server != nullptr) g.runtime->injector.push(server);
  return true;
}

void run_child(group_core& g, group_child* child, context c) {
  g.run(*running_fiber(), child, c.top);
  fork2(c, [] {}, [] {});  // leaves if it was the caller that was aborted
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
  fork2(c, [] {}, [] {});  // leaves if the caller has been aborted since
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
