// SPDX-License-Identifier: Apache-2.0
// How tasks and entries of the language run and end. The part cluster also uses this: its tasks come from
// another node, and its entries from a call on this node.
#pragma once

#include "malloced.hpp"

#include <sukima/tascell/closure.h>
#include <sukima/tascell/tascell.h>
#include <sukima/detail/task.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace sukima::detail {

/// A tag that was thrown and not caught yet, and the place of the throw.
struct thrown_tag {
  std::size_t tag = 0;
  const char* file = nullptr;
  int line = 0;
  sukima_exit* exit = nullptr;  ///< not null: this is a goto out of a closure, not a tag
};

/// How a segment of generated code ended. The fiber that ran it writes this before the segment's task is
/// done.
struct segment_end {
  bool threw = false;
  thrown_tag thrown;
};

/// A task of the language. The program's own object follows it in the same memory.
struct language_task : task {
  segment_end end;
  void* object = nullptr;
  std::uint32_t depth = 0;  ///< depth of its first call (clones.cpp)
  /// Arrays of a result from another node. They are freed with the task, unless GET takes them over.
  std::vector<malloced> received;
};

// throw_and_abort.cpp
/// Runs generated code as a segment that begins at `top`: run(top, frame). \returns whether the code
/// returned. Otherwise the segment's task is marked as aborted, or `end` holds the tag that was not caught in
/// it.
/// \param depth depth of its first call
bool run_segment(char* top, segment_end& end, void (*run)(char*, void*), void* frame,
                 std::uint32_t depth) noexcept;
/// Returns the exception that marks a task for the runtime as one that threw.
std::exception_ptr failure_mark() noexcept;

// enter.cpp
/// Called when plain C calls a worker function. Ends the program if the runtime may not be entered there.
void check_entry() noexcept;
/// Ends the program with the message of the exception that is being handled, which starting the runtime
/// threw.
[[noreturn]] void end_after_failed_start() noexcept;
/// Ends a call. Continues with a tag that was not caught in it.
/// \param top  the result of remembered_top() before the call
void end_entry(const segment_end& end, char* top) noexcept;

// closure_exits.cpp
/// Returns the end of the choice points of the worker function that called the plain C which runs on this
/// thread.
char* remembered_top() noexcept;

// worker_local.cpp
/// Must be called before an entry that other nodes share, because their workers have worker_local objects,
/// too. Afterwards a reduction ends the program, because it would combine only the objects of this process.
/// Any thread.
void forbid_reductions() noexcept;

}  // namespace sukima::detail
