// SPDX-License-Identifier: Apache-2.0
// The children, the servers and the waiters of a task group: group_core.hpp.
#include "join/group_core.hpp"

#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "future/future.hpp"
#include "steal/injector.hpp"
#include "steal/steal_parts.hpp"

#include <sukima/fork.hpp>

#include <new>
#include <utility>

namespace sukima::detail {

namespace {

/// The largest number of ended servers that are tested before one is reused: a server's worker may not have
/// marked it as done yet.
constexpr int most_tries = 4;

}  // namespace

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
  if (server != nullptr) parts_of<steal_parts>(*runtime).injector.push(server);
  return child;
}

/// Both under the lock.
void group_core::add_ended(group_server* server) noexcept {
  server->next_ended = nullptr;
  (last_ended != nullptr ? last_ended->next_ended : first_ended) = server;
  last_ended = server;
}
/// A server that may be reused; null: none is complete yet.
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

/// Returns the server that the caller must put into the queue, if there are children and no server is queued
/// yet. Under the lock. Also null if there is no memory for a server: the waiters will do its work.
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

/// Records the end of a child. The last child wakes all waiters, which may end the group before this returns.
void group_core::end(group_child* child) noexcept {
  child->destroy(child);
  group_waiter* ready = nullptr;
  {
    const std::lock_guard hold(lock);
    SUKIMA_ASSERT(unfinished > pending, "a child that ends was taken out of the list before");
    if (--unfinished == 0) ready = std::exchange(waiting, nullptr);
  }
  while (ready != nullptr) {
    group_waiter* const next = ready->next;  // in the waiter's frame, which may end once the waiter runs
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
    // Between two children the fiber answers requests: of thieves, and calls home.
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

/// Ends the wait, when all children that this fiber knows of have ended.
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

}  // namespace sukima::detail
