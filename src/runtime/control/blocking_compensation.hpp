// SPDX-License-Identifier: Apache-2.0
// Workers that run instead of waiting ones: those wait outside the runtime (sukima/blocking.hpp), or inside
// with a thread-bound fiber; and one for threads that never entered and wait for a future
// (future/outside.cpp).
//
// A thread-bound fiber that waits keeps its thread, and that thread runs only descendants of the awaited
// task. Other work may have to end the wait: a fiber that a surplus worker handed on, a resumed fiber, a task
// that resumes this fiber. If the waiting worker were the last one, no worker would run that. So a wait that
// lasts counts as blocked: the target grows by one, and at least one worker that takes anything is left.
// Model: model/bound_wait.pml.
#pragma once

#include <atomic>
#include <cstdint>

namespace sukima::detail {

class rest_check;
struct runtime_core;

class blocking_compensation {
 public:
  explicit blocking_compensation(runtime_core& core) : core_(core) {}
  blocking_compensation(const blocking_compensation&) = delete;
  blocking_compensation& operator=(const blocking_compensation&) = delete;

  /// A worker waits outside from now on: one more may run, if a thread can be had for it.
  void begin() noexcept;
  void end() noexcept;
  /// The same for a worker that waits with a thread-bound fiber. \returns false: no thread could be started,
  /// and nothing has changed
  bool begin_bound() noexcept;
  void end_bound() noexcept;
  /// The same for a thread outside the runtime, which waits for something that workers compute here. All such
  /// threads together add one worker, instead of the first thread that would compute if it entered.
  /// \returns false: no worker but threads that enter could compute it, and nothing has changed
  bool begin_outside() noexcept;
  void end_outside() noexcept;
  bool has_outside() const noexcept { return outside_.load(std::memory_order_seq_cst) != 0; }
  /// The number of workers that run instead of waiting ones. Waits outside above `tuning::most_compensated`
  /// get none: it would be a thread for each of a crowd. Waits of thread-bound fibers all count, because
  /// their end may depend on it.
  unsigned workers() const noexcept;

 private:
  friend class rest_check;
  runtime_core& core_;
  std::atomic<unsigned> blocked_{0};  ///< pairs with: begin, end, workers
  std::atomic<unsigned> bound_{0};  ///< pairs with: begin_bound, end_bound, workers.
  /// pairs with: begin_outside, end_outside, has_outside; monitor::entry_begins in monitor.hpp
  std::atomic<unsigned> outside_{0};
};

/// One wait of a thread-bound fiber, or of another one that keeps its worker: after
/// `tuning::bound_wait_patience_ns` another worker runs instead, until this object ends.
class bound_wait {
 public:
  explicit bound_wait(runtime_core& core) noexcept;
  ~bound_wait();
  bound_wait(const bound_wait&) = delete;
  bound_wait& operator=(const bound_wait&) = delete;

  /// To be called in each turn of the wait. \returns true once: another worker runs in this one's place now
  bool look() noexcept;
  bool is_compensated() const noexcept { return compensated_; }

 private:
  runtime_core& core_;
  const std::uint64_t since_;
  bool compensated_ = false;
};

}  // namespace sukima::detail
