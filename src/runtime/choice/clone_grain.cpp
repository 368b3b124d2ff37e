// SPDX-License-Identifier: Apache-2.0
#include "choice/clone_grain.hpp"

#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "worker.hpp"

#include <sukima/detail/choice_point.hpp>

#include <algorithm>
#include <limits>

namespace sukima::detail {

void note_split(fiber& s, std::uint64_t now) noexcept {
  s.on->split_at = now;
  fit_clone_grain(s, now);
}

void fit_clone_grain(fiber& s, std::uint64_t now) noexcept {
  gate& g = gate_of(s.base);
  if (g.clone_grain == 0) return;
  const std::uint64_t shortest = s.pool->shortest_clone_grain();
  const std::uint64_t longest = std::min<std::uint64_t>(shortest * tuning::longest_clone_factor,
                                                        std::numeric_limits<std::uint32_t>::max());
  // The counters of two CPUs may differ a little.
  const std::uint64_t unasked = now > s.on->split_at ? now - s.on->split_at : 0;
  g.clone_grain =
      static_cast<std::uint32_t>(std::clamp(unasked / tuning::clones_in_unasked_time, shortest, longest));
}

}  // namespace sukima::detail
