// SPDX-License-Identifier: Apache-2.0
// What the C++ runtime keeps for each thread, and a fiber takes along.
#pragma once

namespace sukima::detail {

/// The C++ runtime's two words for exceptions being handled; they belong to the fiber, not to the thread.
struct exception_state {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

}  // namespace sukima::detail
