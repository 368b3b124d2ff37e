// SPDX-License-Identifier: Apache-2.0
// Suspending a fiber until somebody resumes it (suspend.cpp).
//
// `fiber::suspension` holds a stage and the number of the suspension in one word, changed by CAS:
//   running → suspending      the fiber, before it calls the user's function
//   suspending → suspended    `then` of the switch away; if it was resumed before that, it is ready at once
//   suspended → splitting → suspended
//                             a helper: an idle worker that splits the fiber's oldest work off
//   suspending, suspended → running; splitting → splitting_and_resumed → running
//                             whoever resumes it; in the last case the helper makes it ready
// The number makes a second resume of an old suspension an error instead of a wrong wake-up. Exactly one
// party makes the fiber ready, and only when its stack was left and nobody splits it. Model:
// model/suspend.pml.
#pragma once

#include "fiber/fiber.hpp"

#include <sukima/suspend.hpp>

namespace sukima::detail {

/// Has a suspended fiber work that a helper may split off? Only for the worker that suspends it or holds it.
bool has_splittable_work(fiber& s) noexcept;
/// A helper: suspended → splitting, which keeps the fiber from running. False: it was resumed.
bool hold_suspended(fiber& s) noexcept;
/// A helper: splitting → suspended. False: it was resumed meanwhile, and the caller must make it ready. In
/// either case the fiber may run from here on: only its address may be used.
bool let_go_suspended(fiber& s) noexcept;

/// Cancels the suspension of a fiber that the caller has just made `suspended`, if an abort concerns it. It
/// may run again already (cancel/suspensions.cpp).
void cancel_if_concerned(fiber& s) noexcept;

/// The running fiber, whose suspension has begun, stops in the middle of a poll until it is resumed. Nothing
/// is split off from it meanwhile.
void wait_at_poll(fiber& s) noexcept;

/// The resumer of a suspension that has begun.
resumer suspension_resumer(fiber& s) noexcept;

}  // namespace sukima::detail
