// SPDX-License-Identifier: Apache-2.0
// tbb::global_control: limits for the whole program.
#pragma once

#include <sukima/detail/tbb/control.hpp>
#include <sukima/detail/tbb/errors.hpp>
#include <sukima/detail/tbb/names.hpp>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <utility>

namespace tbb {

/// A limit that holds while the object lives. Of several limits the strictest counts.
class global_control {
 public:
  enum parameter {
    max_allowed_parallelism,
    thread_stack_size,
    terminate_on_exception,
    scheduler_handle,
    parameter_max
  };

  global_control(parameter p, std::size_t value) : parameter_(p), value_(value) {
    ::sukima::detail::tbb::controls().add(p, value);
  }
  global_control(const global_control&) = delete;
  global_control& operator=(const global_control&) = delete;
  ~global_control() { ::sukima::detail::tbb::controls().remove(parameter_, value_); }

  static std::size_t active_value(parameter p) { return ::sukima::detail::tbb::controls().active(p); }

 private:
  parameter parameter_;
  std::size_t value_;
};

/// Marks the constructors that attach to an existing arena or scheduler.
struct attach {};

/// Thrown by finalize if tasks may still run.
class unsafe_wait : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A handle of the library. The library's threads sleep while they have no work, and end with the program.
class task_scheduler_handle {
 public:
  task_scheduler_handle() = default;
  task_scheduler_handle(attach) noexcept : attached_(true) {}  // NOLINT(google-explicit-constructor)
  task_scheduler_handle(const task_scheduler_handle&) = delete;
  task_scheduler_handle& operator=(const task_scheduler_handle&) = delete;
  task_scheduler_handle(task_scheduler_handle&& other) noexcept
      : attached_(std::exchange(other.attached_, false)) {}
  task_scheduler_handle& operator=(task_scheduler_handle&& other) noexcept {
    std::swap(attached_, other.attached_);
    return *this;
  }
  ~task_scheduler_handle() = default;
  explicit operator bool() const noexcept { return attached_; }
  void release() noexcept { attached_ = false; }

 private:
  friend bool finalize(task_scheduler_handle& handle, const std::nothrow_t&) noexcept;
  bool attached_ = false;
};

/// Releases the handle. The threads of the library continue to sleep. \returns false inside a task
inline bool finalize(task_scheduler_handle& handle, const std::nothrow_t&) noexcept {
  handle.attached_ = false;
  return ::sukima::worker_id() < 0;
}
/// Releases the handle. \throws unsafe_wait inside a task
inline void finalize(task_scheduler_handle& handle) {
  if (!finalize(handle, std::nothrow))
    ::sukima::detail::tbb::throw_error(unsafe_wait("sukima: tbb::finalize was called inside a task"));
}

}  // namespace tbb
