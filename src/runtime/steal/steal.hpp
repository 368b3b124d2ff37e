// SPDX-License-Identifier: Apache-2.0
// What a worker looks for when it has nothing to do, and the steal protocol `request` (request.cpp).
#pragma once

#include <sukima/detail/task.hpp>

namespace sukima::detail {

struct fiber;
struct worker;

/// Something to do for a worker.
struct work {
  task* fresh = nullptr;  ///< a task that nobody has begun
  fiber* ready = nullptr;  ///< a fiber that can go on
  explicit operator bool() const noexcept { return fresh != nullptr || ready != nullptr; }
};

/// What a worker that waits may do meanwhile.
enum class reach {
  anything,
  /// As many fibers are parked as the settings allow: only what needs no fiber of its own. Gives way
  /// after a while:
  /// the limit saves memory, it must not stop a program.
  limited,
  /// The fiber must stay on its thread: only descendants of the awaited task.
  pinned,
};

void open_box(worker& w) noexcept;
void close_box(worker& w) noexcept;
/// Answers a thief: a task, or null: none.
void answer(worker& thief, task* t) noexcept;
bool has_request(const worker& w) noexcept;
/// Takes the request out of the worker's own box; null: none, or withdrawn.
worker* take_request(worker& w) noexcept;
/// A thief's request, from its search's point of view.
class request {
 public:
  /// The task that the victim gave; else asks one, if none is asked.
  task* poll(worker& w) noexcept;
  bool is_pending() const noexcept { return asked_ != nullptr; }
  /// Ends the asking. The task that was on its way, or null.
  task* withdraw(worker& w) noexcept;

 private:
  worker* asked_ = nullptr;
};

}  // namespace sukima::detail
