// SPDX-License-Identifier: Apache-2.0
// The interface of the runtime for code that no C++ exception may pass: C that was generated from another
// language.
//
// A fiber leaves such code by jumps. It goes through its choice points from the youngest down, aborts and
// awaits the tasks that were split off, and then jumps over all the frames at once. So the functions for this
// do not throw; each returns its outcome instead.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/task.hpp>

#include <cstdint>

namespace sukima::detail {

/// The part of the running fiber's work that an abort ends.
enum class abort_reach {
  nothing,
  choice_point,  ///< a choice point of the running segment: a child of it failed
  task,  ///< the whole segment: its task or an ancestor was cancelled
};

/// The beginning of the running segment's choice points on the fiber that owns an address of its choice
/// stack.
char* segment_begin(const void* in_choice_stack) noexcept;
/// The task of that segment.
task* segment_task(const void* in_choice_stack) noexcept;

/// Returns which part of the work the fiber that owns this address must stop. Ends the program with a message
/// if backtracking failed for lack of memory, because its undo actions may be incomplete then.
abort_reach pending_abort(const void* in_choice_stack) noexcept;

/// Completes all children of a choice point whose owner has done its own part: runs children that no worker
/// began, and awaits the others. They stay on the choice point. \returns the newest; null if there are none
task* complete_children(choice_point* r) noexcept;
/// The same for a choice point that is left early: begins no child any more, and cancels running ones.
task* stop_children(choice_point* r) noexcept;
/// Counts for the statistics that the fiber of this choice point left its task because of an abort.
void count_abort(choice_point* r) noexcept;
/// Called after the caller has destroyed all children of a choice point. The choice point then counts as
/// never split, and an abort that affected it but nothing older has ended. \param kind  of the choice point,
/// read before the children were destroyed
void forget_children(choice_point* r, const choice_point_kind* kind) noexcept;

/// Runs a root for a caller without a context, which no abort from outside may leave. Outside the runtime,
/// the root runs on the default runtime. On a worker, it runs on a fiber of its own, which stays on this
/// thread like the caller's until the root has ended. \throws the root's exception, if it ran on the default
/// runtime; the exceptions of starting it
void enter_masked(root_task& root);

/// The segment that this thread runs, as an address that no other running segment has; null: none.
const void* running_segment() noexcept;

/// The number of the running worker, from 1. No other worker of this process has or had it. 0: outside.
std::uint32_t running_worker_number() noexcept;
/// The greatest of these numbers so far.
std::uint32_t last_worker_number() noexcept;

/// Must be called before a jump over frames of the running stack, to inform AddressSanitizer.
void frames_are_left() noexcept;

/// Ends the program with status 70 after flushing stdout: the message says what cannot continue.
[[noreturn]] void end_program(const char* message) noexcept;

}  // namespace sukima::detail
