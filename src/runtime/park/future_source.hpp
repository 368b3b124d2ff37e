// SPDX-License-Identifier: Apache-2.0
// Launched futures, as workers without work see them (future/future.hpp): a source of work that keeps the
// sentinel awake.
#pragma once

#include <atomic>
#include <cstddef>

namespace sukima::detail {

struct task;
struct worker;

class future_source {
 public:
  future_source() = default;
  future_source(const future_source&) = delete;
  future_source& operator=(const future_source&) = delete;

  /// Whether no launched future is left that has not ended.
  bool is_empty() const noexcept { return unfinished_.load(std::memory_order_seq_cst) == 0; }
  /// The one that this worker must begin; null: none.
  virtual task* take(const worker& w) noexcept = 0;

 protected:
  ~future_source() = default;
  /// pairs with: begin_to_own, ended in launched.cpp; is_empty
  std::atomic<std::size_t> unfinished_{0};
};

}  // namespace sukima::detail
