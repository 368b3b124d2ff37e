// SPDX-License-Identifier: Apache-2.0
// The messages of the checked mode (sukima/detail/checks.hpp).
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"

#include <cstdio>
#include <cstdlib>

namespace sukima::detail {

void refuse_context(const char* operation) noexcept {
  const fiber* const s = running_fiber();
  std::fflush(stdout);
  if (s == nullptr)
    std::fprintf(stderr,
                 "sukima: %s got a context on a thread that runs no task; call it without a context here\n",
                 operation);
  else if (s->ambient->top != nullptr)
    std::fprintf(
        stderr,
        "sukima: %s got the context of an outer function in a function without one; give the branch or "
        "loop body a parameter of type sukima::context and pass that, or call it without a context\n",
        operation);
  else
    std::fprintf(
        stderr,
        "sukima: %s got the context of an outer function; pass the context that the innermost branch "
        "or loop body got as its argument\n",
        operation);
  std::abort();
}

}  // namespace sukima::detail
