// SPDX-License-Identifier: Apache-2.0
// Islands: objects that take turns. Only the holder of an island's token uses its data. The files of this
// folder decide which objects take turns, and for how long.
#pragma once

#include <sukima/objects/core.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/division.hpp"
#include "schedule/slice.hpp"

namespace sukima::objects::detail {

struct island_core;

/// A fiber of an island for work that only the holder of the island's token may do. It can also run while all
/// objects are parked.
struct bell : sukima::detail::bound_task {
  island_core* of = nullptr;
  sukima::detail::fiber* self = nullptr;
  /// The number of its suspension. Sequentially consistent with `aborting`.
  /// pairs with: run_bell, ring in program.cpp
  std::atomic<std::uint64_t> number{0};
  bool has_aborted = false;  ///< whether it has ended the local waits for an abort
  /// Makes the fiber run. Any thread may call this.
  void ring() noexcept;
};

struct island_core : island {
  using island::island;
  std::vector<object_core*> objects;
  std::size_t left = 0;  ///< objects that have not ended
  std::uint64_t worker_since = 0;  ///< in ticks: when it last gave its worker to another island
  slice_length slices;
  std::uint64_t slice_began = 0;  ///< in ticks
  bool can_be_divided = false;  ///< true if its objects have no group, and no island is bound to a thread
  bool others_were_ready = true;  ///< whether other objects were ready when the running object's turn began
  work_sampler sampler;
  bell own_bell;

  /// Returns the first invariant that does not hold, as a sentence, or null. For the token's holder.
  const char* violated_invariant() const noexcept;
  bool is_divisible() const noexcept { return can_be_divided && objects.size() > 1; }
  /// Begins a sample, which shows whether the island should be divided.
  void begin_sample();
  /// Called after an operation that lets others run: the last of a slice, or one that is sampled.
  /// \returns the number of messages of the next slice
  unsigned end_slice(object_core& me, std::uint64_t now) {
    if (!sampler.is_sampling() && slices.pass_quick(now - slice_began, slice * work_sampler::long_operation))
      return slice;
    return end_long_slice(me, now);
  }

 private:
  unsigned end_long_slice(object_core& me, std::uint64_t now);
  unsigned add_to_sample(object_core& me, std::uint64_t now);
};

}  // namespace sukima::objects::detail
