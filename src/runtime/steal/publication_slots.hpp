// SPDX-License-Identifier: Apache-2.0
// Tasks that a fiber has published: thieves steal them, or the fiber reclaims them.
//
//   publish   owner: null → task (release)
//   steal     thief: CAS task → null; nothing of the task is read before it is won, because until then its
//             owner may reclaim and free it
//   reclaim   owner: CAS task → null
// So exactly one of a thief and the owner gets each task. Model: model/slots.pml.
#pragma once

#include <base/shared/assert.hpp>
#include "stress.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/detail/task.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace sukima::detail {

/// Most tasks that a fiber keeps published ahead of demand (settings::published_tasks).
inline constexpr unsigned max_published = 8;

class publication_slots {
 public:
  // For the fiber's owner. `count`: how many of the slots are in use, settings::published_tasks or fewer.
  /// A free slot; `count`: none.
  unsigned free_slot(unsigned count) const noexcept {
    unsigned i = 0;
    while (i < count && tasks_[i].load(std::memory_order_relaxed) != nullptr) ++i;
    return i;
  }
  /// Whether there is a task that a thief could take.
  bool any(unsigned count) const noexcept {
    for (unsigned i = 0; i < count; ++i)
      if (tasks_[i].load(std::memory_order_relaxed) != nullptr) return true;
    return false;
  }
  void publish(task* t, unsigned slot) noexcept {
    SUKIMA_ASSERT(tasks_[slot].load(std::memory_order_relaxed) == nullptr,
                  "the owner fills empty slots only");
    t->slot = slot;
    numbers_[slot].store(++publications_, std::memory_order_relaxed);
    places_[slot].store(t->place, std::memory_order_relaxed);
    stress_point();
    tasks_[slot].store(t, std::memory_order_release);
  }
  /// \return false: a thief has it
  bool reclaim(task* t) noexcept {
    stress_point();
    task* expected = t;
    return tasks_[t->slot].compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
  }
  /// Takes back the first published task that `suits` accepts; null: there is none. Only the owner frees its
  /// tasks, so it may read them while they are in a slot.
  template <class Suits> task* reclaim_oldest(unsigned count, Suits suits) noexcept {
    task* oldest = nullptr;
    std::uint32_t oldest_number = 0;
    for (unsigned i = 0; i < count; ++i) {
      task* const t = tasks_[i].load(std::memory_order_relaxed);
      const std::uint32_t number = numbers_[i].load(std::memory_order_relaxed);
      if (t == nullptr || !suits(*t)) continue;
      if (oldest != nullptr && static_cast<std::int32_t>(number - oldest_number) >= 0) continue;
      oldest = t;
      oldest_number = number;
    }
    return oldest != nullptr && reclaim(oldest) ? oldest : nullptr;
  }
  /// Takes the task out of a slot; null: it is empty, or a thief was faster.
  task* empty(unsigned slot) noexcept {
    if (tasks_[slot].load(std::memory_order_relaxed) == nullptr) return nullptr;
    return tasks_[slot].exchange(nullptr, std::memory_order_acq_rel);
  }

  // For thieves.
  /// Takes the task that was published first, which has the most work below it; null: none.
  task* steal_oldest(unsigned count) noexcept {
    for (;;) {
      unsigned oldest = count;
      std::uint32_t oldest_number = 0;
      task* t = nullptr;
      for (unsigned i = 0; i < count; ++i) {
        task* const here = tasks_[i].load(std::memory_order_relaxed);
        if (here == nullptr) continue;
        const std::uint32_t number = numbers_[i].load(std::memory_order_relaxed);
        if (t != nullptr && static_cast<std::int32_t>(number - oldest_number) >= 0) continue;
        t = here;
        oldest = i;
        oldest_number = number;
      }
      if (t == nullptr) return nullptr;
      stress_point();
      // Fails if its owner reclaimed it or another thief took it: look again.
      if (tasks_[oldest].compare_exchange_strong(t, nullptr, std::memory_order_acq_rel)) return t;
    }
  }

  /// The same among tasks whose hint suits the thief. The hint that it reads may be that of an earlier task
  /// in the slot.
  /// \param suits  suits(place)
  template <class Suits> task* steal_suiting(unsigned count, Suits suits) noexcept {
    for (unsigned i = 0; i < count; ++i) {
      task* t = tasks_[i].load(std::memory_order_relaxed);
      if (t == nullptr || !suits(places_[i].load(std::memory_order_relaxed))) continue;
      stress_point();
      // As in steal_oldest.
      if (tasks_[i].compare_exchange_strong(t, nullptr, std::memory_order_acq_rel)) return t;
    }
    return nullptr;
  }

 private:
  /// pairs with: publish, steal_oldest, steal_suiting, reclaim, empty
  std::array<atomic<task*>, max_published> tasks_{};
  /// When each slot was filled, in publications. Written before the slot's release store.
  /// no partner: a hint to find the oldest
  std::array<atomic<std::uint32_t>, max_published> numbers_{};
  /// The place of each slot's task. Written before the slot's release store. no partner: a hint
  std::array<std::atomic<std::uint16_t>, max_published> places_{};
  std::uint32_t publications_ = 0;  ///< owner only
};

}  // namespace sukima::detail
