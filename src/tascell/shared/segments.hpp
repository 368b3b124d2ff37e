// SPDX-License-Identifier: Apache-2.0
// How tasks and entries of the language run and end. The part cluster uses this, too: its tasks come from
// another node, and its entries from this node's call.
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

/// A tag that was thrown and not caught yet, and where.
struct thrown_tag {
  std::size_t tag = 0;
  const char* file = nullptr;
  int line = 0;
  sukima_exit* exit = nullptr;  ///< not null: a goto out of a closure instead of a tag
};

/// How the running of a segment of generated code ended. Written by the fiber that ran it, before its task
/// is done.
struct segment_end {
  bool threw = false;
  thrown_tag thrown;
};

/// A task of the language. The program's own object follows it in the same memory.
struct language_task : task {
  segment_end end;
  void* object = nullptr;
  std::uint32_t depth = 0;  ///< of its first call (clones.cpp)
  /// Arrays of a result from another node: freed with the task, unless GET takes them over.
  std::vector<malloced> received;
};

// throw_and_abort.cpp
/// Runs generated code as a segment that begins at `top`: run(top, frame). \returns whether it ended by
/// itself. Otherwise the segment's task is marked as aborted, or `end` holds the tag that was not caught in
/// it.
/// \param depth of its first call
bool run_segment(char* top, segment_end& end, void (*run)(char*, void*), void* frame,
                 std::uint32_t depth) noexcept;
/// The exception that marks a task as one that threw, for the runtime.
std::exception_ptr failure_mark() noexcept;

// enter.cpp
/// Called where plain C calls a worker function: ends the program if nothing may enter the runtime there.
void check_entry() noexcept;
/// Ends the program with the message of the exception that starting the runtime threw, which is being
/// handled.
[[noreturn]] void end_after_failed_start() noexcept;
/// Ends a call: continues with a tag that was not caught in it.
/// \param top  remembered_top() before the call
void end_entry(const segment_end& end, char* top) noexcept;

// closure_exits.cpp
/// The end of the choice points of the worker function that called the plain C that runs on this thread.
char* remembered_top() noexcept;

// worker_local.cpp
/// To be called before an entry that other nodes share: their workers have worker_local objects, too. From
/// then on a reduction ends the program, because it would combine those of this process only. Any thread.
void forbid_reductions() noexcept;

}  // namespace sukima::detail
