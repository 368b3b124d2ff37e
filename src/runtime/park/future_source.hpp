// SPDX-License-Identifier: Apache-2.0
// Launched futures, as workers without work see them (future/future.hpp): a source of work that keeps the
// sentinel awake.
#pragma once

#include <atomic>
#include <cstdint>

namespace sukima::detail {

struct task;
struct worker;

class future_source {
 public:
  future_source() = default;
  future_source(const future_source&) = delete;
  future_source& operator=(const future_source&) = delete;

  /// Whether no launched future is left that has not ended.
  bool is_empty() const noexcept { return counts_.load(std::memory_order_seq_cst) < one_unfinished; }
  /// The one that this worker must begin; null: none.
  virtual task* take(const worker& w) noexcept = 0;

 protected:
  ~future_source() = default;
  static constexpr std::uint64_t one_unfinished = std::uint64_t{1} << 32;
  /// In the upper half the futures that have not ended. In the lower half those of them that no worker has
  /// begun and that wait in no queue of a place. Changed under the list's lock and read without it. A launch
  /// counts and then wakes a worker; a worker that is about to sleep announces that and then reads. So a rise
  /// and the read are sequentially consistent. A fall that is read late costs one more look.
  /// pairs with: rise, fall, pending in src/runtime/future/future.hpp; is_empty
  std::atomic<std::uint64_t> counts_{0};
};

}  // namespace sukima::detail
