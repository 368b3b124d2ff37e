// SPDX-License-Identifier: Apache-2.0
// The interface of launched futures for workers without work (future/future.hpp): a source of work, for which
// the sentinel keeps searching.
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

  /// Whether all launched futures have ended.
  bool is_empty() const noexcept { return counts_.load(std::memory_order_seq_cst) < one_unfinished; }
  /// Takes the launched future that this worker must begin; null: none.
  virtual task* take(const worker& w) noexcept = 0;

 protected:
  ~future_source() = default;
  static constexpr std::uint64_t one_unfinished = std::uint64_t{1} << 32;
  /// The upper half counts the futures that have not ended. The lower half counts those of them that no
  /// worker has begun and that are in no queue of a place. Changed under the list's lock and read without it.
  /// A launch first counts, then wakes a worker. A worker that is about to sleep first announces that, then
  /// reads. So increments and this read are sequentially consistent. A decrement that is read late only
  /// causes one needless search.
  /// pairs with: rise, fall, pending in src/runtime/future/future.hpp; is_empty
  std::atomic<std::uint64_t> counts_{0};
};

}  // namespace sukima::detail
