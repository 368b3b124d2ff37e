// SPDX-License-Identifier: Apache-2.0
// Calls a task's function.
#pragma once

#include "fiber/fiber.hpp"

#include <sukima/context.hpp>
#include <sukima/errors.hpp>

#include <exception>

namespace sukima::detail {

/// Calls it in the segment that begins at `top`, and stores its exception in the task.
[[gnu::always_inline]] inline void call_task(fiber& self, task& t, char* top) noexcept {
  try {
    const ambient_context none(*self.ambient);
    t.run(&t, context{top});
  } catch (const aborted&) {
    t.aborted = true;
  } catch (...) {
    t.error = std::current_exception();
  }
}

}  // namespace sukima::detail
