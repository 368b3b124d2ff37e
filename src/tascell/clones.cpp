// SPDX-License-Identifier: Apache-2.0
// Chooses the form of a worker function for a call: the parallel form or the sequential clone (clone.hpp).
// The expected time of a call depends on the size of the choice points below it, which represents its depth.
// A task continues with the depth of the choice point from which it was split off.
#include "support.hpp"

#include <sukima/detail/clone.hpp>
#include <sukima/detail/ticks.hpp>

#include <cstddef>

namespace sukima::detail {

static_assert(sizeof(sukima_call_site) == sizeof(sukima_clone_site) &&
              alignof(sukima_call_site) == alignof(sukima_clone_site) &&
              offsetof(sukima_call_site, sukima_traced) == offsetof(sukima_clone_site, traced) &&
              offsetof(sukima_call_site, sukima_at) == offsetof(sukima_clone_site, at));

namespace {

/// Size of the choice point of a fork in a small function.
constexpr std::ptrdiff_t bytes_per_depth = 32;

const sukima_clone_site& from_c(const sukima_call_site* site) noexcept {
  return *reinterpret_cast<const sukima_clone_site*>(site);
}

}  // namespace

std::uint32_t depth_at(const char* top) noexcept {
  const char* const begin = segment_begin(top - 1);
  return depth_of_segment(begin) + static_cast<std::uint32_t>((top - begin) / bytes_per_depth);
}

}  // namespace sukima::detail

using namespace sukima::detail;

extern "C" {

[[gnu::nothrow]] int sukima_call_begins(const sukima_call_site* site, char* top) {
  gate& g = gate_of(top);
  if (g.clone_grain == 0) return SUKIMA_AS_PARALLEL;
  const sukima_clone_site& known = from_c(site);
  const std::uint32_t depth = depth_at(top);
  const bool is_clone = expects_clone(known, depth, g);
  if (is_clone) sukima_count_clone(&known, depth, top);
  if (is_timed(known, depth, g)) return is_clone ? SUKIMA_AS_TIMED_CLONE : SUKIMA_AS_TIMED_CHOOSING;
  return is_clone ? SUKIMA_AS_CLONE : SUKIMA_AS_CHOOSING;
}

[[gnu::nothrow]] unsigned long long sukima_call_ticks(void) { return ticks(); }

[[gnu::nothrow]] void sukima_call_ended(sukima_call_site* site, const char* function, char* top,
                                        unsigned long long begun) {
  sukima_clone_learn(reinterpret_cast<sukima_clone_site*>(site), function, depth_at(top), ticks() - begun);
}

}  // extern "C"
