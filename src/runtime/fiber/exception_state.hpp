// SPDX-License-Identifier: Apache-2.0
// The data that the C++ runtime keeps for each thread, and that moves with a fiber.
#pragma once

namespace sukima::detail {

/// The C++ runtime's two words about exceptions in flight. They belong to the fiber, not to the thread.
struct exception_state {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

}  // namespace sukima::detail
