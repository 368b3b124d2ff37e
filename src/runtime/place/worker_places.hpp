// SPDX-License-Identifier: Apache-2.0
// Which places of the machine have workers, by the last known CPU of each worker.
#pragma once

#include <sukima/capacity/places.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace sukima::detail {

/// A worker's last CPU, on which its thread was when it last looked. Written by that thread only. An old
/// value costs a needless move of work, never more.
class last_cpu {
 public:
  /// Below 0: the worker was not seen yet, or has left. From any thread.
  int read() const noexcept { return cpu_.load(std::memory_order_relaxed); }

 private:
  friend class worker_places;
  std::atomic<int> cpu_{-1};  ///< no partner: a hint
};

/// A counter for each place, of the workers that were last seen in it.
///
/// Workers enter, leave and are moved by the kernel, so the place of a hint may have no worker. Then the
/// smallest place around it that has one counts instead. So a quota or a limit on the number of workers needs
/// no rule of its own, and no work ever waits for a worker to arrive.
class worker_places {
 public:
  /// \param table lives longer than this object
  /// \throws std::bad_alloc
  explicit worker_places(const sukima_place_table& table);

  /// Records that the worker's thread is on this CPU now. Called by that thread. Changes at most eight
  /// counters, and none if the worker is still in the same smallest place.
  /// \param cpu of sched_getcpu(); below 0: unknown, the worker counts for the machine only
  /// \returns whether a place other than the machine had no worker before and has one now
  bool see(last_cpu& its, int cpu) noexcept;
  /// Records that the worker leaves the runtime. Called by its thread.
  void forget(last_cpu& its) noexcept;

  /// How many workers were last seen in this place; for *any*, in the machine. While workers move, a sum over
  /// several places may count them twice or not at all.
  std::uint32_t count(sukima_place place) const noexcept;
  /// The smallest place around this one, or itself, that has a worker; any if no place has one.
  sukima_place nearest_with_worker(sukima_place place) const noexcept;
  /// Whether the worker was last seen there. Each worker that was seen is in any and in the machine.
  bool is_in(const last_cpu& its, sukima_place place) const noexcept;

 private:
  sukima_place smallest_of(int cpu) const noexcept;
  bool add(sukima_place smallest, std::uint32_t change) noexcept;

  const sukima_place_table& table_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> counts_;  ///< By place. pairs with: add, nearest_with_worker
};

}  // namespace sukima::detail
