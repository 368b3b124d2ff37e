// SPDX-License-Identifier: Apache-2.0
// A pointer for each worker of a runtime, without a lock (src/runtime/worker_slots.cpp).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sukima::detail {

/// Segment k has the slots of the workers [2^k − 1, 2^(k+1) − 1), so slots are never moved.
class worker_slots {
 public:
  using destroyer = void (*)(void*) noexcept;
  explicit worker_slots(destroyer destroy) noexcept : destroy_(destroy) {}
  worker_slots(const worker_slots&) = delete;
  worker_slots& operator=(const worker_slots&) = delete;
  ~worker_slots() { clear(); }

  /// The running worker's pointer; null: none yet. \throws usage_error outside a runtime, or in another
  /// runtime
  void* find() const;
  /// Sets it if it is not set. \returns the pointer that is set then. \throws as find; std::bad_alloc
  void* insert(void* fresh);
  template <class F> void for_each(F&& f) const {
    for (std::size_t k = 0; k < segments; ++k)
      if (const slot* all = segments_[k].load(std::memory_order_acquire))
        // pairs with: insert
        for (std::size_t i = 0; i < std::size_t{1} << k; ++i)
          if (void* p = all[i].load(std::memory_order_acquire)) f(p);
  }
  std::size_t size() const noexcept;
  void clear() noexcept;

 private:
  using slot = std::atomic<void*>;  ///< pairs with: insert, find, for_each
  static constexpr std::size_t segments = 13;

  std::size_t running_worker() const;

  destroyer destroy_;
  /// The serial number of the runtime whose workers use it; 0: none yet. Set by the first worker.
  /// no partner: only the number itself counts
  mutable std::atomic<std::uint64_t> runtime_{0};
  std::array<std::atomic<slot*>, segments> segments_{};  ///< pairs with: insert, find, for_each
};

}  // namespace sukima::detail
