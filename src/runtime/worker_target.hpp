// SPDX-License-Identifier: Apache-2.0
// The number of workers that may run now. control/worker_controller.hpp decides it.
#pragma once

#include <atomic>

namespace sukima::detail {

class rest_check;
class worker_controller;

class worker_target {
 public:
  worker_target() = default;
  worker_target(const worker_target&) = delete;
  worker_target& operator=(const worker_target&) = delete;

  unsigned count() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Whether a background worker of this rank is surplus. The worker reads it again after clearing its flag.
  bool is_surplus(unsigned rank) const noexcept { return rank >= count_.load(std::memory_order_seq_cst); }

 private:
  friend class rest_check;
  friend class worker_controller;
  /// pairs with: adjust in worker_controller.cpp; is_surplus
  std::atomic<unsigned> count_{1};
};

}  // namespace sukima::detail
