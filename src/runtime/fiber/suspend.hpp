// SPDX-License-Identifier: Apache-2.0
// Suspends a fiber until another thread or fiber resumes it (suspend.cpp).
//
// `fiber::suspension` holds a stage and the number of the suspension in one word, changed by CAS:
//   running → suspending      by the fiber, before it calls the user's function
//   suspending → suspended    by `then` of the switch away; a fiber that was resumed before is ready at once
//   suspended → splitting → suspended
//                             by a helper: an idle worker that splits the fiber's oldest work off
//   suspending, suspended → running; splitting → splitting_and_resumed → running
//                             by the resumer; in the last case the helper makes the fiber ready
// The number makes a second resume of an old suspension an error instead of a wrong wake-up. Exactly one
// thread makes the fiber ready, and only after the fiber has left its stack and while no helper splits it.
// Model: model/suspend.pml.
#pragma once

#include "fiber/fiber.hpp"

#include <sukima/suspend.hpp>

namespace sukima::detail {

/// Whether a suspended fiber has work that a helper may split off. Only the worker that suspends it or holds
/// it may call this.
bool has_splittable_work(fiber& s) noexcept;
/// A helper's step suspended → splitting, which keeps the fiber from running.
/// \returns false if the fiber was resumed
bool hold_suspended(fiber& s) noexcept;
/// A helper's step splitting → suspended. Afterwards the fiber may run, so only its address may be used.
/// \returns false if the fiber was resumed since hold_suspended: the caller must make it ready
bool let_go_suspended(fiber& s) noexcept;

/// Cancels the suspension of a fiber that the caller has just made `suspended`, if an abort concerns it. The
/// fiber may already run again (cancel/suspensions.cpp).
void cancel_if_concerned(fiber& s) noexcept;

/// Stops the running fiber, whose suspension has begun, in the middle of a poll until it is resumed. No
/// helper splits work off from it during that time.
void wait_at_poll(fiber& s) noexcept;

/// The resumer of a suspension that has begun.
resumer suspension_resumer(fiber& s) noexcept;

}  // namespace sukima::detail
