// SPDX-License-Identifier: Apache-2.0
// The interface of task groups to the runtime (src/runtime/join/group.cpp).
#pragma once

#include <sukima/detail/task.hpp>

#include <memory>
#include <utility>

namespace sukima::detail {

struct group_core;

/// A child of a group. It is in the group's list until a worker runs it.
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
    run = [](task* self, context c) { detail::call(c, std::move(static_cast<group_child_of*>(self)->f)); };
    destroy = delete_task<group_child_of>;
  }
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace sukima::detail {

/// Makes a group whose scope choice point is at `scope`, in the running fiber.
group_core* make_group(char* scope);
/// The place for a scope choice point in code without a context: the ambient top, which moves above it.
/// \throws usage_error if there is no ambient context
char* take_ambient_scope();
/// Moves the ambient top back to `scope`.
void give_ambient_scope(char* scope) noexcept;
/// Cancels children that have not ended, waits for them, and frees the group.
void end_group(group_core* g) noexcept;
/// Adds a child to the group. \returns false if too many wait already: the caller must call `run_child`
bool add_child(group_core& g, group_child* child);
/// Runs a child here, below the context, to its end. \throws aborted, if the abort affects the caller itself
void run_child(group_core& g, group_child* child, context c);
/// Drops a child that cannot be passed to run_child.
void drop_child(group_core& g, group_child* child) noexcept;
/// Runs children, and waits for children that other workers run. \returns false: the group was cancelled
/// \throws the exception of the first child that threw; aborted
bool wait_group(group_core& g, context c);
void cancel_group(group_core& g) noexcept;
bool group_is_cancelled(const group_core& g) noexcept;
/// Whether hints are followed where its children run.
bool group_follows_hints(const group_core& g) noexcept;
/// \throws usage_error outside a runtime
void require_fiber(const char* message);

}  // namespace sukima::detail
