// SPDX-License-Identifier: Apache-2.0
// Workers that run instead of waiting workers. Those wait outside the runtime (sukima/blocking.hpp), or
// inside with a thread-bound fiber. One more worker runs for threads that never entered and wait for a future
// (future/outside.cpp).
//
// A thread-bound fiber that waits keeps its thread, and that thread runs only descendants of the awaited
// task. Other work may have to end the wait: a fiber that a surplus worker handed over, a resumed fiber, a
// task that resumes this fiber. If the waiting worker were the last one, no worker would run that work. So a
// wait that lasts counts as blocked: the target grows by one, and at least one worker is left that takes any
// work. Model: model/bound_wait.pml.
#pragma once

#include "park/compensation.hpp"

#include <atomic>

namespace sukima::detail {

class rest_check;
class monitor;
class worker_controller;
class worker_target;

class blocking_compensation final : public compensation {
 public:
  blocking_compensation(worker_controller& controller, const worker_target& target, monitor& watching)
      : controller_(controller), target_(target), monitor_(watching) {}

  void begin() noexcept override;
  void end() noexcept override;
  bool begin_bound() noexcept override;
  void end_bound() noexcept override;
  bool begin_standing(unsigned entered) noexcept override;
  void end_standing() noexcept override;
  bool begin_outside() noexcept override;
  void end_outside() noexcept override;
  bool begin_outside_region() noexcept override;
  void end_outside_region() noexcept override;
  void begin_serving() override;
  bool has_outside() const noexcept { return outside_.load(std::memory_order_seq_cst) != 0; }
  /// The number of workers that run instead of waiting ones. Waits outside above `tuning::most_compensated`
  /// get none, because a crowd of waits would get a thread each. Waits of thread-bound fibers all count,
  /// because their end may depend on the worker.
  unsigned workers() const noexcept;

 private:
  friend class rest_check;
  worker_controller& controller_;
  const worker_target& target_;
  monitor& monitor_;
  std::atomic<unsigned> blocked_{0};  ///< pairs with: begin, end, workers
  std::atomic<unsigned> bound_{0};  ///< pairs with: begin_bound, end_bound, begin_standing, workers.
  /// Workers that stand still. no partner: each wait that begins gets another number
  std::atomic<unsigned> standing_{0};
  /// pairs with: begin_outside, end_outside, has_outside; monitor::wait_begins in monitor.hpp
  std::atomic<unsigned> outside_{0};
};

}  // namespace sukima::detail
