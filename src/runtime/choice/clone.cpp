// SPDX-License-Identifier: Apache-2.0
// Sequential clones: the slow path of their poll, and the measurement of how long they take. Protocol:
// sukima/detail/clone.h; model of what is closed: model/clone.pml.
#include "choice/clone_grain.hpp"
#include "choice/poll.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "fiber/unannounced.hpp"
#include "observe/trace.hpp"
#include "observe/traced_clones.hpp"
#include "park/park.hpp"
#include "park/park_parts.hpp"
#include "worker.hpp"

#include <sukima/detail/clone.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace sukima::detail {

namespace {

/// Whether a worker that wants work has waited for less than the patience for a clone that has none to give.
bool waits_shortly(const fiber& s) noexcept {
  const std::uint64_t patience =
      std::min<std::uint64_t>(s.pool->shortest_clone_grain(), s.runtime->tuned.clone_patience);
  return s.unserved_since != 0 && ticks() - s.unserved_since < patience;
}

/// Whether a request may wait. The limit stays raised, so that each poll of the fiber asks again.
bool may_wait(const fiber& s) noexcept {
  // A thread that sets a flag then raises the limit, so the next poll sees the flag.
  // pairs with: request_abort_checks in abort.cpp; request_place_check in place_events.cpp; call_home in
  // call_home.cpp; ask_all in remote_interface.cpp
  return !s.abort_pending && s.on->flags.load(std::memory_order_relaxed) == 0;
}

}  // namespace

// A clone has no choice points: what "polls" is the place at `top`, where the next one would be. It is the
// end of what may be split, and nothing there is read.
//
// Most clones end within microseconds, and the parallel code around them has larger parts to give. So a
// thief that gets nothing waits first. In that time each poll returns at once, because backtracking that
// finds nothing would cost more than the clone's work between two polls.
extern "C" int sukima_poll_in_clone(char* top) {
  fiber& s = fiber_at(top);
  auto* const end = reinterpret_cast<choice_point*>(top);
  if (std::exchange(s.lets_pass, nullptr) == end) return 0;  // an unannounced root that is a clone
  if (may_wait(s) && waits_shortly(s)) return 0;
  ensure_announced(s);
  const bool all_served = poll_slow(s, end, end, poll_place::clone);
  if (!all_served && may_wait(s)) {
    if (s.unserved_since == 0) s.unserved_since = ticks();
    if (waits_shortly(s)) return 0;
  }
  s.unserved_since = 0;
  const bool parallel = !all_served || s.abort_pending;
  if (traced_clones* const traced = s.clones) {
    // no partner: statistics only
    auto& count = s.abort_pending ? traced->left_for_abort
                  : parallel      ? traced->left_for_work
                                  : traced->served;
    count.fetch_add(1, std::memory_order_relaxed);  // no partner: statistics only
  }
  ++s.on->statistics.clone_polls;
  if (parallel) ++s.on->statistics.clones_left;
  return parallel ? 1 : 0;
}

extern "C" char* sukima_close_older(char* top) {
  fiber& s = fiber_of(top);
  char* const older = s.oldest;
  s.oldest = top;
  s.steps.forget();
  return older;
}

extern "C" void sukima_reopen_older(char* top, char* older) {
  fiber& s = fiber_of(top);
  // The stack may have shrunk below `older` before the clone began, and the clone's polls have brought the
  // limit down to `top`: what is pushed there next need not poll slowly.
  s.oldest = std::min(older, top);
  s.steps.forget();
  // While the clone ran, requests of thieves were answered only with work above `top`.
  if (parts_of<park_parts>(s).park.has_idle_workers()) s.limit.request_poll();
}

namespace {

/// pairs with: begin_tracing
traced_clones* traced_at(const sukima_clone_site& site) noexcept {
  return static_cast<traced_clones*>(__atomic_load_n(&site.traced, __ATOMIC_ACQUIRE));
}

/// The first call at each depth of a place comes here. If two workers do so at once, the counters of one stay
/// unused.
void begin_tracing(sukima_clone_site& site, const char* place) noexcept {
  void* none = nullptr;
  if (traced_at(site) != nullptr) return;
  if (traced_clones* const traced = trace_clones(place))
    // pairs with: traced_at
    __atomic_compare_exchange_n(&site.traced, &none, traced, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

}  // namespace

extern "C" void sukima_count_clone(const sukima_clone_site* site, std::uint32_t depth, char* top) {
  fiber& s = fiber_at(top);
  ++s.on->statistics.clones;
  s.clones = traced_at(*site);
  if (s.clones != nullptr) entry_at(*s.clones, depth).clones.fetch_add(1, std::memory_order_relaxed);
}

// The prediction follows a rise by half at once, and a fall by a sixteenth. So a call during which the thread
// had lost its CPU loses its influence after some dozens of other calls.
extern "C" void sukima_clone_learn(sukima_clone_site* site, const char* place, std::uint32_t depth,
                                   std::uint64_t ticks) {
  auto& entry = entry_at(*site, depth);
  const auto took = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(ticks, 1, std::numeric_limits<std::uint32_t>::max()));
  const std::uint32_t samples = __atomic_load_n(&entry.samples, __ATOMIC_RELAXED);
  const std::uint32_t before = __atomic_load_n(&entry.expected, __ATOMIC_RELAXED);
  const bool is_first = samples < sukima_clone_first_samples;
  const std::uint32_t expected = is_first        ? std::max(before, took)
                                 : took > before ? before + (took - before) / 2
                                                 : before - (before - took) / 16;
  __atomic_store_n(&entry.expected, expected, __ATOMIC_RELAXED);
  if (samples == 0) begin_tracing(*site, place);
  if (traced_clones* const traced = traced_at(*site))
    entry_at(*traced, depth).expected.store(expected, std::memory_order_relaxed);
  if (fiber* const s = running_fiber_as_it_is()) fit_clone_grain(*s, sukima::detail::ticks());
  // No clone begins before the last of the first ones.
  if (is_first) __atomic_store_n(&entry.samples, samples + 1, __ATOMIC_RELAXED);
}

}  // namespace sukima::detail
