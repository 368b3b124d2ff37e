// SPDX-License-Identifier: Apache-2.0
// The common part of the queues of the TBB headers: items that a lock protects.
#pragma once

#include <sukima/blocking.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

namespace sukima::detail::tbb {

/// The condition variable of one queue. A copy of a queue has its own. While a worker waits, another one may
/// run.
class queue_signal {
 public:
  queue_signal() = default;
  queue_signal(const queue_signal&) noexcept {}
  queue_signal& operator=(const queue_signal&) noexcept { return *this; }
  ~queue_signal() = default;
  void notify_all() noexcept { changed_.notify_all(); }
  template <class Condition> void wait(std::unique_lock<std::mutex>& hold, Condition condition) {
    if (condition()) return;
    blocking([&] { changed_.wait(hold, condition); });
  }

 private:
  std::condition_variable changed_;
};

/// The items, and the operations that need a queue that no other thread uses.
template <class T, class Allocator> class locked_queue {
 protected:
  using items = std::deque<T, typename std::allocator_traits<Allocator>::template rebind_alloc<T>>;

 public:
  using value_type = T;
  using reference = T&;
  using const_reference = const T&;
  using difference_type = std::ptrdiff_t;
  using allocator_type = Allocator;
  using pointer = typename std::allocator_traits<Allocator>::pointer;
  using const_pointer = typename std::allocator_traits<Allocator>::const_pointer;
  using iterator = typename items::iterator;
  using const_iterator = typename items::const_iterator;

  locked_queue() : locked_queue(Allocator()) {}
  explicit locked_queue(const Allocator& a) : items_(a) {}
  template <std::input_iterator I>
  locked_queue(I first, I last, const Allocator& a = Allocator()) : items_(first, last, a) {}
  locked_queue(std::initializer_list<T> values, const Allocator& a = Allocator()) : items_(values, a) {}
  locked_queue(const locked_queue& other) : items_(other.items_) {}
  locked_queue(const locked_queue& other, const Allocator& a) : items_(other.items_, a) {}
  locked_queue(locked_queue&& other) : items_(std::move(other.items_)) { other.items_.clear(); }
  locked_queue(locked_queue&& other, const Allocator& a) : items_(std::move(other.items_), a) {
    other.items_.clear();
  }
  locked_queue& operator=(const locked_queue& other) {
    items_ = other.items_;
    return *this;
  }
  locked_queue& operator=(locked_queue&& other) {
    if (this == &other) return *this;
    items_ = std::move(other.items_);
    other.items_.clear();
    return *this;
  }
  locked_queue& operator=(std::initializer_list<T> values) {
    items_ = values;
    return *this;
  }
  ~locked_queue() = default;
  template <std::input_iterator I> void assign(I first, I last) { items_.assign(first, last); }
  void assign(std::initializer_list<T> values) { items_.assign(values); }

  bool empty() const {
    const std::lock_guard hold(lock_);
    return items_.empty();
  }
  void clear() { items_.clear(); }
  iterator unsafe_begin() { return items_.begin(); }
  iterator unsafe_end() { return items_.end(); }
  const_iterator unsafe_begin() const { return items_.begin(); }
  const_iterator unsafe_end() const { return items_.end(); }
  const_iterator unsafe_cbegin() const { return items_.begin(); }
  const_iterator unsafe_cend() const { return items_.end(); }
  allocator_type get_allocator() const { return allocator_type(items_.get_allocator()); }
  friend bool operator==(const locked_queue& a, const locked_queue& b) { return a.items_ == b.items_; }

 protected:
  void exchange(locked_queue& other) { items_.swap(other.items_); }

  mutable std::mutex lock_;  // protects items_, except in calls that allow no other thread in the queue
  items items_;
};

}  // namespace sukima::detail::tbb
