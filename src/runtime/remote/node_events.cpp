// SPDX-License-Identifier: Apache-2.0
#include "remote/node_events.hpp"

#include "fiber/fiber.hpp"

namespace sukima::detail {

fiber& node_events::elsewhere() noexcept {
  static fiber never_runs;
  return never_runs;
}

}  // namespace sukima::detail
