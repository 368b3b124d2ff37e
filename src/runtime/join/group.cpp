// SPDX-License-Identifier: Apache-2.0
// Task groups: children in a list of the group, run by whoever waits for it and by servers.
//
// A server is a task that takes children from its group's list until none is left. Whoever adds a child
// sees to it that one server is in the runtime's injector queue, where idle workers look; a server
// that begins queues the next one if there is more to do. So a child costs the group's lock, and only one
// server for each idle worker goes through the runtime's queue. A child is run in a segment of its own
// (`execute`), on a server's fiber or on a waiter's, and freed by the worker that ran it; nothing of it is
// known to the runtime afterwards.
//
// Aborting: a child's parent is the group's anchor, a task that nobody runs. Its owner and origin are the
// fiber and the scope choice point of the group, so an abort from outside reaches the children as it reaches
// a fork's; its `cancelled` is the group's own. A child's own origin is nothing: the fiber that made the
// group continues when a child throws, until it waits.
//
// Waiting: a fiber that finds no child to run, but children that others run, suspends itself. Whoever ends
// the last child, or adds one, takes the waiters out of the list under the lock and resumes them after it: so
// none is forgotten, and none is resumed twice. The group lives until its servers are done; they are joined
// like any task.
#include "core.hpp"

#include <sukima/cancel.hpp>
#include <sukima/detail/group.hpp>
#include <sukima/fork.hpp>
#include <sukima/suspend.hpp>

#include <algorithm>

namespace sukima::detail {

namespace {

/// So many children may wait for somebody to run them.
constexpr std::size_t most_pending = 1024;
constexpr std::size_t most_servers = 64;

/// A fiber that waits for a group, in its own frame.
struct group_waiter {
  resumer resume;
  group_waiter* next = nullptr;
};

struct group_server : task {
  group_core* group = nullptr;
  bool begun = false;  ///< under the group's lock
};

}  // namespace

struct group_core {
  runtime_core* runtime = nullptr;
  task anchor;

  std::mutex lock;  // the rest
  group_child* oldest = nullptr;
  group_child* newest = nullptr;
  std::size_t pending = 0;  ///< in the list
  std::size_t unfinished = 0;  ///< added and not ended
  group_waiter* waiting = nullptr;
  std::exception_ptr error;  ///< the first
  std::deque<group_server> servers;

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
  bool cancelled() const noexcept { return anchor.cancelled.load(std::memory_order_acquire); }

  group_child* take_oldest() noexcept {
    const std::lock_guard hold(lock);
    return remove(oldest);
  }
  group_child* take_newest() noexcept {
    const std::lock_guard hold(lock);
    return remove(newest);
  }
  group_server* wanted_server() noexcept;
  void call_for_help() noexcept;
  void link_child(task& t) const noexcept;
  void end(group_child* child) noexcept;
  void fail(std::exception_ptr e) noexcept;
  void run(fiber& s, group_child* child, char* top) noexcept;
  void run_children(context c);
  bool finish_waiting();
  void discard_pending() noexcept;
  void wait_for_others(char* top);
};

/// A server to be queued: there are children, none is queued yet, and there may be more of them. Under the
/// lock. Null, too, where there is no memory for one: the waiters will do its work.
group_server* group_core::wanted_server() noexcept {
  if (pending == 0) return nullptr;
  group_server* idle = nullptr;
  for (group_server& s : servers) {
    const bool done = is_done(&s);
    if (!s.begun && !done) return nullptr;
    if (done && idle == nullptr) idle = &s;
  }
  if (idle == nullptr) {
    if (servers.size() >= std::min<std::size_t>(most_servers, runtime->worker_limit)) return nullptr;
    try {
      idle = &servers.emplace_back();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    idle->group = this;
    idle->run = [](task* self, context c) {
      auto* me = static_cast<group_server*>(self);
      {
        const std::lock_guard hold(me->group->lock);
        me->begun = true;
      }
      me->group->run_children(c);
    };
    idle->destroy = [](task*) noexcept {};
    idle->owner = anchor.owner;
    idle->owner_segment = all_ones;
    idle->parent = anchor.parent;
    idle->depth = anchor.depth;
    idle->cancellation_masked = anchor.cancellation_masked;
  }
  idle->begun = false;
  idle->aborted = false;
  idle->runner.store(nullptr, std::memory_order_relaxed);
  idle->joining.store(0, std::memory_order_relaxed);
  return idle;
}

/// Queues a server if one is wanted.
void group_core::call_for_help() noexcept {
  group_server* server = nullptr;
  {
    const std::lock_guard hold(lock);
    server = wanted_server();
  }
  if (server != nullptr) runtime->injector.push(server);
}

void group_core::link_child(task& t) const noexcept {
  t.parent = const_cast<task*>(&anchor);
  t.owner = anchor.owner;
  t.owner_segment = all_ones;  // no abort of that fiber alone: only what the anchor says
  t.depth = anchor.depth + 1;
  t.cancellation_masked = false;
}

/// A child has ended; the last one wakes all that wait. They may end the group before this returns.
void group_core::end(group_child* child) noexcept {
  child->destroy(child);
  group_waiter* ready = nullptr;
  {
    const std::lock_guard hold(lock);
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
    execute(s, child, top);
    if (child->error) fail(std::exchange(child->error, nullptr));
  }
  end(child);
}

void group_core::run_children(context c) {
  group_child* child = take_oldest();
  while (child != nullptr) {
    call_for_help();
    run(*running_fiber(), child, c.top);
    // The fiber's own business between two children: thieves, a thread that is called home.
    fork2(c, [] {}, [] {});
    child = take_newest();
  }
}

void group_core::discard_pending() noexcept {
  while (group_child* child = take_newest()) end(child);
}

/// Suspends the running fiber until the last child has ended, or one was added.
void group_core::wait_for_others(char* top) {
  group_waiter me;
  suspend(context{top}, [&](resumer r) {
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
  });
}

/// All children have ended, as far as this one sees. \returns was nothing cancelled?
bool group_core::finish_waiting() {
  std::exception_ptr first;
  bool whole = true;
  {
    const std::lock_guard hold(lock);
    if (unfinished == 0) {
      first = std::exchange(error, nullptr);
      whole = !anchor.cancelled.exchange(false);
    }
  }
  if (first) std::rethrow_exception(first);
  return whole;
}

group_core* make_group(char* scope) {
  require_fiber("sukima: a task group can be made only inside of a runtime; call sukima::run around it");
  fiber& s = *running_fiber();
  auto* g = new group_core;
  g->runtime = s.runtime;
  ::new (static_cast<void*>(scope)) choice_point{reinterpret_cast<std::uintptr_t>(&scope_kind)};
  g->anchor.parent = s.running;
  g->anchor.owner = &s;
  g->anchor.origin = reinterpret_cast<choice_point*>(scope);
  g->anchor.depth = s.running->depth + 1;
  g->anchor.cancellation_masked = std::uncaught_exceptions() > 0;
  return g;
}

char* take_ambient_scope() {
  require_fiber("sukima: a task group can be made only inside of a runtime; call sukima::run around it");
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
  char* const top = reinterpret_cast<char*>(g->anchor.origin) + choice_point_alignment;
  for (;;) {
    {
      const std::lock_guard hold(g->lock);
      if (g->unfinished == 0) break;
    }
    cancel_group(*g);
    g->discard_pending();
    g->wait_for_others(top);
  }
  // A server that nobody has taken is run here, in no time: its group is empty.
  for (group_server& server : g->servers)
    if (!is_done(&server)) await(*running_fiber(), &server, top);
  delete g;
}

bool add_child(group_core& g, group_child* child) {
  g.link_child(*child);
  group_server* server = nullptr;
  group_waiter* waiter = nullptr;
  {
    const std::lock_guard hold(g.lock);
    const fiber* here = running_fiber();
    const bool full = g.pending >= most_pending && here != nullptr && here->runtime == g.runtime;
    if (!full) {
      g.push(child);
      if (g.waiting != nullptr)
        waiter = std::exchange(g.waiting, g.waiting->next);
      else
        server = g.wanted_server();
    }
    ++g.unfinished;
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

bool wait_group(group_core& g, context c) {
  require_fiber("sukima: a task group can be waited for only inside of a runtime");
  for (;;) {
    if (group_child* child = g.take_newest()) {
      g.run(*running_fiber(), child, c.top);
      fork2(c, [] {}, [] {});
      continue;
    }
    {
      const std::lock_guard hold(g.lock);
      if (g.unfinished == 0) break;
    }
    g.wait_for_others(c.top);
  }
  fork2(c, [] {}, [] {});  // leaves if the caller was aborted meanwhile
  return g.finish_waiting();
}

void cancel_group(group_core& g) noexcept {
  if (!g.anchor.cancelled.exchange(true)) request_abort_checks(*g.runtime);
}

bool group_is_cancelled(const group_core& g) noexcept { return g.cancelled(); }

void require_fiber(const char* what) {
  if (running_fiber() == nullptr) throw usage_error(what);
}

}  // namespace sukima::detail
