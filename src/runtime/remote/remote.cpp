// SPDX-License-Identifier: Apache-2.0
// Implements shared/remote.hpp.
#include "shared/remote.hpp"

#include "cancel/abort.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "join/join.hpp"
#include "park/park.hpp"
#include "remote/remote_interface.hpp"
#include "steal/injector.hpp"
#include "steal/steal_parts.hpp"

#include <utility>

namespace sukima::detail {

/// Access to the parts of a runtime, which are private, for the functions below.
class remote_access {
 public:
  static steal_parts& parts(const runtime& r) noexcept { return parts_of<steal_parts>(*r.core_); }
  static remote_interface& remote(const runtime& r) noexcept {
    return static_cast<remote_interface&>(parts(r).remote);
  }
};

void attach_node(runtime& r, remote_node& node) { remote_access::remote(r).attach(node); }
void detach_node(runtime& r) noexcept { remote_access::remote(r).detach(); }
void request_task(runtime& r, giver then, request_kind kind) noexcept {
  remote_access::remote(r).request(then, kind);
}
void remind_of_request(runtime& r) noexcept { remote_access::remote(r).remind(); }
bool withdraw_request(runtime& r) noexcept { return remote_access::remote(r).withdraw(); }

std::uint64_t give_away(runtime& r, task& t) {
  takes_over(&t);  // pairs with: split_oldest in backtrack.cpp. Its captures are read now
  return remote_access::remote(r).give_away(t);
}

void give_back(runtime& r, task& t) noexcept { remote_access::parts(r).injector.push(&t, queue_end::front); }

void keep_here(runtime& r, task& t) noexcept {
  t.stays = true;  // written before the task is in the queue, where take_for_node reads it
  give_back(r, t);
}

bool came_from_node(const runtime& /*r*/, const task& t) noexcept {
  return t.owner == &node_events::elsewhere();
}

bool take_back(runtime& r, std::uint64_t id) noexcept {
  task* const t = remote_access::remote(r).take_given(id);
  if (t == nullptr) return false;
  hands_over(t);  // pairs with: execute in execute.cpp
  give_back(r, *t);
  return true;
}

bool finish(runtime& owner, std::uint64_t id, given_outcome how) noexcept {
  steal_parts& core = remote_access::parts(owner);
  task* const t = remote_access::remote(owner).take_given(id);
  if (t == nullptr) return false;
  t->aborted = how.aborted;
  t->error = std::move(how.error);  // no reference stays here: the owner may destroy the exception at once
  if (!t->aborted && !t->error) {
    try {
      t->kind->travel->get(*t, how.result);
    } catch (...) {
      t->error = std::current_exception();
      if (how.on_undecodable) how.on_undecodable();
    }
  }
  complete_given_away(core, t);
  return true;
}

void deliver(runtime& r, received_task& t) noexcept {
  steal_parts& core = remote_access::parts(r);
  t.owner = &node_events::elsewhere();
  t.depth = 1;
  // Only cancel() stops it, because the scope that may abort it is on another node.
  t.cancellation_masked.store(true, std::memory_order_relaxed);
  t.joining.store(join_received, std::memory_order_relaxed);
  hands_over(&t);  // pairs with: execute in execute.cpp
  core.injector.push(&t);
}

void cancel(runtime& r, received_task& t) noexcept {
  t.cancelled.store(true, std::memory_order_seq_cst);
  request_abort_checks(remote_access::parts(r));
}

bool has_idle_workers(const runtime& r) noexcept { return remote_access::parts(r).park.has_idle_workers(); }

bool is_inside() noexcept { return running_fiber() != nullptr; }

}  // namespace sukima::detail
