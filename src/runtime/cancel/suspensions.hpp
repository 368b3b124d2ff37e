// SPDX-License-Identifier: Apache-2.0
// Suspensions that end early when their computation is cancelled (sukima::suspend with a third argument).
//
// A suspended fiber does not poll. So a fiber that is suspended with an action for its cancellation is listed
// here before it checks for an abort for the last time. A thread that writes an abort then visits the fibers
// of the list:
//   suspended: suspended → splitting holds the fiber, as a helper does; if an abort concerns it, its action
//   is called, which resumes it, now or later; splitting → suspended lets it go.
//   being switched away from, waiting in place, or held by a helper: it cannot be held. `cancel_check` is set
//   and its worker unparked. The thread that has the fiber looks at that word after suspending → suspended,
//   in each turn of its wait, or after splitting → suspended. Both sides write before they read, so one of
//   them sees the other.
// The action is called at most once. The fiber does not run during the call, so the action's captures are
// alive. Model: model/suspend.pml.
#pragma once

#include <sukima/detail/atomics.hpp>

#include <cstddef>
#include <mutex>

namespace sukima::detail {

struct cancel_action;
struct fiber;
struct worker;
class rest_check;

class cancellable_suspensions {
 public:
  cancellable_suspensions() = default;
  cancellable_suspensions(const cancellable_suspensions&) = delete;
  cancellable_suspensions& operator=(const cancellable_suspensions&) = delete;

  void add(fiber& s, const cancel_action& action) noexcept;
  void remove(fiber& s) noexcept;
  /// A listed fiber begins to wait in place on that worker. The fiber may have moved there since `add`.
  void waits_on(fiber& s, worker& w) noexcept;
  /// An abort was written. Linear in the number of listed fibers; a load if there is none.
  void cancel_those_concerned() noexcept;
  /// The same for one fiber that the caller has just made `suspended`. It may run again already.
  void cancel_if_concerned(fiber& s) noexcept;
  /// The same for the running fiber, which waits in place.
  void cancel_in_place(fiber& s) noexcept;

 private:
  friend class rest_check;
  bool hold_if_concerned(fiber& s) noexcept;
  void cancel_held(fiber* first) noexcept;

  std::mutex lock_;
  fiber* first_ = nullptr;
  /// Changed under the lock, read before it is taken. pairs with: add, remove, cancel_those_concerned
  atomic<std::size_t> count_{0};
};

}  // namespace sukima::detail
