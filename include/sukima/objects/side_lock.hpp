// SPDX-License-Identifier: Apache-2.0
// The locks of a stream, for a scope.
#pragma once

#include <sukima/objects/core.hpp>

#include <mutex>

namespace sukima::objects::detail {

/// Holds a mutex while it lives, if `wanted` is true.
class optional_lock {
 public:
  optional_lock(std::mutex& of, bool wanted) : lock_(wanted ? &of : nullptr) {
    if (lock_ != nullptr) lock_->lock();
  }
  optional_lock(const optional_lock&) = delete;
  optional_lock& operator=(const optional_lock&) = delete;
  ~optional_lock() {
    if (lock_ != nullptr) lock_->unlock();
  }

 private:
  std::mutex* lock_;
};

/// Holds the lock of one side of a stream while it lives, if that side needs one.
class side_lock {
 public:
  side_lock(stream_core& of, bool out)
      : locked_(of.shared && (out ? of.many_out : of.many_in) ? &of : nullptr), out_(out) {
    if (locked_ != nullptr) locked_->lock_side(out_);
  }
  side_lock(const side_lock&) = delete;
  side_lock& operator=(const side_lock&) = delete;
  ~side_lock() {
    if (locked_ != nullptr) locked_->unlock_side(out_);
  }

 private:
  stream_core* locked_;
  bool out_;
};

}  // namespace sukima::objects::detail
