// SPDX-License-Identifier: Apache-2.0
// tbb::concurrent_queue and tbb::concurrent_bounded_queue.
#pragma once

#include <oneapi/tbb/cache_aligned_allocator.h>
#include <sukima/detail/tbb/errors.hpp>
#include <sukima/detail/tbb/locked_queue.hpp>
#include <sukima/detail/tbb/names.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <utility>

namespace tbb {

/// Thrown by a waiting push or pop when `abort` is called.
class user_abort : public std::exception {
 public:
  const char* what() const noexcept override { return "User-initiated abort has terminated this operation"; }
};

/// A first-in, first-out queue for any number of threads.
template <class T, class Allocator = cache_aligned_allocator<T>>
class concurrent_queue : public ::sukima::detail::tbb::locked_queue<T, Allocator> {
  using base = ::sukima::detail::tbb::locked_queue<T, Allocator>;

 public:
  using size_type = std::size_t;
  using base::base;
  using base::operator=;

  void push(const T& value) { emplace(value); }
  void push(T&& value) { emplace(std::move(value)); }
  template <class... Arguments> void emplace(Arguments&&... arguments) {
    const std::lock_guard hold(this->lock_);
    this->items_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  /// \returns false if the queue is empty
  bool try_pop(T& to) {
    const std::lock_guard hold(this->lock_);
    if (this->items_.empty()) return false;
    to = std::move(this->items_.front());
    this->items_.pop_front();
    return true;
  }
  size_type unsafe_size() const { return this->items_.size(); }
  void swap(concurrent_queue& other) { this->exchange(other); }
  friend void swap(concurrent_queue& a, concurrent_queue& b) { a.swap(b); }
};
template <std::input_iterator I, class Allocator = cache_aligned_allocator<std::iter_value_t<I>>>
concurrent_queue(I, I, Allocator = Allocator()) -> concurrent_queue<std::iter_value_t<I>, Allocator>;

/// The same with a capacity: a push into a full queue waits, and so does a pop from an empty one.
template <class T, class Allocator = cache_aligned_allocator<T>>
class concurrent_bounded_queue : public ::sukima::detail::tbb::locked_queue<T, Allocator> {
  using base = ::sukima::detail::tbb::locked_queue<T, Allocator>;

 public:
  using size_type = std::ptrdiff_t;
  using base::base;
  using base::operator=;

  void push(const T& value) { emplace(value); }
  void push(T&& value) { emplace(std::move(value)); }
  /// \throws user_abort
  template <class... Arguments> void emplace(Arguments&&... arguments) {
    std::unique_lock hold(this->lock_);
    wait(hold, waiting_pushes_, [this] { return !is_full(); });
    put(std::forward<Arguments>(arguments)...);
  }
  bool try_push(const T& value) { return try_emplace(value); }
  bool try_push(T&& value) { return try_emplace(std::move(value)); }
  template <class... Arguments> bool try_emplace(Arguments&&... arguments) {
    const std::lock_guard hold(this->lock_);
    if (is_full()) return false;
    put(std::forward<Arguments>(arguments)...);
    return true;
  }
  /// \throws user_abort
  void pop(T& to) {
    std::unique_lock hold(this->lock_);
    wait(hold, waiting_pops_, [this] { return !this->items_.empty(); });
    take(to);
  }
  bool try_pop(T& to) {
    const std::lock_guard hold(this->lock_);
    if (this->items_.empty()) return false;
    take(to);
    return true;
  }
  /// Makes waiting calls throw user_abort.
  void abort() {
    const std::lock_guard hold(this->lock_);
    ++aborts_;
    changed_.notify_all();
  }

  /// Returns the number of items and of waiting calls of push, minus the number of waiting calls of pop.
  size_type size() const {
    const std::lock_guard hold(this->lock_);
    return static_cast<size_type>(this->items_.size()) + waiting_pushes_ - waiting_pops_;
  }
  size_type unsafe_size() const { return static_cast<size_type>(this->items_.size()); }
  bool empty() const { return size() <= 0; }
  size_type capacity() const {
    const std::lock_guard hold(this->lock_);
    return capacity_;
  }
  /// \param most  below 0: no limit
  void set_capacity(size_type most) {
    const std::lock_guard hold(this->lock_);
    capacity_ = most < 0 ? unlimited : most;
    changed_.notify_all();
  }
  void clear() {
    base::clear();
    changed_.notify_all();
  }
  void swap(concurrent_bounded_queue& other) {
    std::swap(capacity_, other.capacity_);
    this->exchange(other);
  }
  friend void swap(concurrent_bounded_queue& a, concurrent_bounded_queue& b) { a.swap(b); }

 private:
  static constexpr size_type unlimited = static_cast<size_type>(~std::size_t{0} / 2 / sizeof(T));

  bool is_full() const { return static_cast<size_type>(this->items_.size()) >= capacity_; }
  template <class... Arguments> void put(Arguments&&... arguments) {
    this->items_.emplace_back(std::forward<Arguments>(arguments)...);
    changed_.notify_all();
  }
  void take(T& to) {
    to = std::move(this->items_.front());
    this->items_.pop_front();
    changed_.notify_all();
  }
  template <class Lock, class Condition> void wait(Lock& hold, size_type& waiting, Condition condition) {
    const std::size_t before = aborts_;
    ++waiting;
    changed_.wait(hold, [&] { return condition() || aborts_ != before; });
    --waiting;
    if (!condition()) ::sukima::detail::tbb::throw_error(user_abort());
  }

  ::sukima::detail::tbb::queue_signal changed_;
  size_type capacity_ = unlimited;
  size_type waiting_pops_ = 0;
  size_type waiting_pushes_ = 0;
  std::size_t aborts_ = 0;
};
template <std::input_iterator I, class Allocator = cache_aligned_allocator<std::iter_value_t<I>>>
concurrent_bounded_queue(I, I, Allocator = Allocator())
    -> concurrent_bounded_queue<std::iter_value_t<I>, Allocator>;

}  // namespace tbb
