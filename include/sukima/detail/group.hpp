// SPDX-License-Identifier: Apache-2.0
// The interface of task groups to the runtime (src/runtime/join/group.cpp).
#pragma once

#include <sukima/detail/task.hpp>

#include <memory>
#include <utility>

namespace sukima::detail {

struct group_core;

/// A child of a group: in the group's list until a worker runs it.
struct group_child : task {
  group_child* before = nullptr;
  group_child* after = nullptr;
};

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

template <class F> struct group_child_of : group_child {
  F f;
  explicit group_child_of(F&& callee) : f(std::move(callee)) { set(); }
  explicit group_child_of(const F& callee) : f(callee) { set(); }

 private:
  void set() noexcept {
    run = [](task* self, context c) { call(c, std::move(static_cast<group_child_of*>(self)->f)); };
    destroy = delete_task<group_child_of>;
  }
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace sukima::detail {

/// A group whose scope choice point is at `scope`, in the running fiber.
group_core* make_group(char* scope);
/// The place for a scope choice point of code without a context: at the ambient top, which moves above it.
/// \throws usage_error where there is no ambient context
char* take_ambient_scope();
/// Moves the ambient top back to `scope`.
void give_ambient_scope(char* scope) noexcept;
/// Cancels children that have not ended, waits for them, and frees the group.
void end_group(group_core* g) noexcept;
/// Hands a child over. False: too many wait already; the caller has to run it with `run_child`.
bool add_child(group_core& g, group_child* child);
/// Runs a child here, below the context, to its end. \throws aborted, where that concerns the caller itself
void run_child(group_core& g, group_child* child, context c);
/// Drops a child, where run_child is not possible.
void drop_child(group_core& g, group_child* child) noexcept;
/// Runs children, and waits for those that others run. \returns false: it was cancelled
/// \throws what the first child that threw has thrown; aborted
bool wait_group(group_core& g, context c);
void cancel_group(group_core& g) noexcept;
bool group_is_cancelled(const group_core& g) noexcept;
/// Whether hints are followed where its children run.
bool group_follows_hints(const group_core& g) noexcept;
/// \throws usage_error outside a runtime
void require_fiber(const char* message);

}  // namespace sukima::detail
