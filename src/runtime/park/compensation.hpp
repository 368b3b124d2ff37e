// SPDX-License-Identifier: Apache-2.0
// The interface by which waits let other workers run instead of waiting ones.
// control/blocking_compensation.hpp implements it.
#pragma once

#include "park/park_parts.hpp"

#include <sukima/detail/ticks.hpp>

#include <cstdint>

namespace sukima::detail {

class compensation {
 public:
  compensation() = default;
  compensation(const compensation&) = delete;
  compensation& operator=(const compensation&) = delete;

  /// A worker waits outside the runtime from now on: one more worker may run, if a thread can be started for
  /// it.
  virtual void begin() noexcept = 0;
  virtual void end() noexcept = 0;
  /// The same for a worker that waits with a thread-bound fiber. \returns false: no thread could be started,
  /// and the call had no effect
  virtual bool begin_bound() noexcept = 0;
  virtual void end_bound() noexcept = 0;
  /// The fiber of a worker is about to suspend, and there is no memory for another fiber that the worker
  /// could run: the worker stands still until end_standing().
  /// \param entered  the threads inside the runtime: each is a worker, like the background ones
  /// \returns false: no other worker would be left, and nothing has changed
  virtual bool begin_standing(unsigned entered) noexcept = 0;
  virtual void end_standing() noexcept = 0;
  /// The same for a thread outside the runtime, which waits for something that workers compute here. All such
  /// threads together add one worker, instead of the first thread that would compute if it entered.
  /// \returns false: no worker but threads that enter could compute it, and nothing has changed
  virtual bool begin_outside() noexcept = 0;
  virtual void end_outside() noexcept = 0;
  /// The calling thread is about to wait outside. If it is a thread of another runtime's parallel region, the
  /// region's other threads may wait for it: none of them count until end_outside_region(). To be called
  /// before begin_outside(). \returns false: it is not such a thread, and nothing has changed
  virtual bool begin_outside_region() noexcept = 0;
  virtual void end_outside_region() noexcept = 0;
  /// A thread serves an executor from now on. There may be more such threads than CPUs, whatever the number
  /// of workers. So the monitor measures the use of the CPUs.
  virtual void begin_serving() = 0;

 protected:
  ~compensation() = default;
};

/// One wait of a thread-bound fiber, or of another fiber that keeps its worker. After
/// `tuning::bound_wait_patience_ns` another worker runs in its place, until this object is destroyed.
class bound_wait {
 public:
  explicit bound_wait(const park_parts& r) noexcept
      : compensation_(r.blocking), patience_(r.tuned.bound_wait_patience), since_(ticks()) {}
  ~bound_wait() {
    if (compensated_) compensation_.end_bound();
  }
  bound_wait(const bound_wait&) = delete;
  bound_wait& operator=(const bound_wait&) = delete;

  /// Must be called in each turn of the wait. \returns true once: another worker now runs instead of this one
  bool look() noexcept {
    if (compensated_ || ticks() - since_ < patience_) return false;
    compensated_ = compensation_.begin_bound();
    return compensated_;
  }
  bool is_compensated() const noexcept { return compensated_; }

 private:
  compensation& compensation_;
  const std::uint64_t patience_;
  const std::uint64_t since_;
  bool compensated_ = false;
};

}  // namespace sukima::detail
