// SPDX-License-Identifier: Apache-2.0
// Ends slices of an island: sets their length, and samples whether its objects compute too much for one
// worker.
#include "schedule/island.hpp"

#include <pthread.h>
#include <sukima/detail/ticks.hpp>

#include "program/program_core.hpp"
#include "schedule/division_steps.hpp"

namespace sukima::objects::detail {

std::uint64_t nanoseconds_of(clockid_t which) noexcept {
  timespec now{};
  clock_gettime(which, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

clock_reading read_clocks(std::uint64_t ticks) noexcept {
  return {static_cast<std::uintptr_t>(pthread_self()), nanoseconds_of(CLOCK_THREAD_CPUTIME_ID),
          nanoseconds_of(CLOCK_MONOTONIC), ticks};
}

const char* island_core::violated_invariant() const noexcept {
  std::size_t running = 0;
  for (const object_core* const o : objects) {
    if (o->home != this) return "the objects of an island are at home there";
    if (!o->has_ended.load(std::memory_order_relaxed)) ++running;  // only this island sets it
  }
  return left == running ? nullptr : "an island counts its objects that have not ended";
}

void island_core::begin_sample() {
  for (object_core* const o : objects) {
    o->sampled_ticks = 0;
    // Only objects of this island change their ends.
    for (const held_end& e : o->ends)
      if (!e.stream->shared)  // relaxed: only objects of this island change the index, too
        e.stream->tail_at_sample = e.stream->own_words.tail.load(std::memory_order_relaxed);
  }
  budget = 0;
  slice_began = sukima::detail::ticks();
  sampler.begin(read_clocks(slice_began));
}

unsigned island_core::add_to_sample(object_core& me, std::uint64_t now) {
  me.sampled_ticks += now - slice_began;
  if (!sampler.add(now - slice_began, others_were_ready)) return 0;
  if (!sampler.finish(read_clocks(now)) || !divide(*me.program, *this, me)) sampler.back_off();
  return slices.messages();
}

unsigned island_core::end_long_slice(object_core& me, std::uint64_t now) {
  if (sampler.is_sampling()) return add_to_sample(me, now);
  const std::uint64_t took = now - slice_began;
  const unsigned messages = slices.messages();
  slices.ended(took, [now] { return read_clocks(now); });
  if (is_divisible() && sampler.wants_sample(took, messages)) {
    if (sukima::detail::has_idle_worker(*me.program->core)) {
      begin_sample();
      return 0;
    }
    sampler.back_off();
  }
  return slices.messages();
}

}  // namespace sukima::objects::detail
