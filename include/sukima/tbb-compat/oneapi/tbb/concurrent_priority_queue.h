// SPDX-License-Identifier: Apache-2.0
// tbb::concurrent_priority_queue: a queue from which the greatest item is taken first.
#pragma once

#include <oneapi/tbb/cache_aligned_allocator.h>
#include <sukima/detail/tbb/names.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace tbb {

template <class T, class Compare = std::less<T>, class Allocator = cache_aligned_allocator<T>>
class concurrent_priority_queue {
  using items = std::vector<T, typename std::allocator_traits<Allocator>::template rebind_alloc<T>>;

 public:
  using value_type = T;
  using reference = T&;
  using const_reference = const T&;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using allocator_type = Allocator;

  concurrent_priority_queue() : concurrent_priority_queue(Allocator()) {}
  explicit concurrent_priority_queue(const Allocator& a) : items_(a) {}
  explicit concurrent_priority_queue(const Compare& less, const Allocator& a = Allocator())
      : less_(less), items_(a) {}
  explicit concurrent_priority_queue(size_type capacity, const Allocator& a = Allocator())
      : concurrent_priority_queue(capacity, Compare(), a) {}
  explicit concurrent_priority_queue(size_type capacity, const Compare& less,
                                     const Allocator& a = Allocator())
      : less_(less), items_(a) {
    items_.reserve(capacity);
  }
  template <std::input_iterator I>
  concurrent_priority_queue(I first, I last, const Allocator& a = Allocator())
      : concurrent_priority_queue(first, last, Compare(), a) {}
  template <std::input_iterator I>
  concurrent_priority_queue(I first, I last, const Compare& less, const Allocator& a = Allocator())
      : less_(less), items_(first, last, a) {
    std::make_heap(items_.begin(), items_.end(), less_);
  }
  concurrent_priority_queue(std::initializer_list<T> values, const Allocator& a = Allocator())
      : concurrent_priority_queue(values.begin(), values.end(), a) {}
  concurrent_priority_queue(std::initializer_list<T> values, const Compare& less,
                            const Allocator& a = Allocator())
      : concurrent_priority_queue(values.begin(), values.end(), less, a) {}
  concurrent_priority_queue(const concurrent_priority_queue& other)
      : less_(other.less_), items_(other.items_) {}
  concurrent_priority_queue(const concurrent_priority_queue& other, const Allocator& a)
      : less_(other.less_), items_(other.items_, a) {}
  concurrent_priority_queue(concurrent_priority_queue&& other) noexcept
      : less_(other.less_), items_(std::move(other.items_)) {}
  concurrent_priority_queue(concurrent_priority_queue&& other, const Allocator& a)
      : less_(other.less_), items_(std::move(other.items_), a) {}
  concurrent_priority_queue& operator=(const concurrent_priority_queue& other) {
    less_ = other.less_;
    items_ = other.items_;
    return *this;
  }
  concurrent_priority_queue& operator=(concurrent_priority_queue&& other) {
    less_ = other.less_;
    items_ = std::move(other.items_);
    return *this;
  }
  concurrent_priority_queue& operator=(std::initializer_list<T> values) {
    assign(values);
    return *this;
  }
  ~concurrent_priority_queue() = default;
  template <std::input_iterator I> void assign(I first, I last) {
    items_.assign(first, last);
    std::make_heap(items_.begin(), items_.end(), less_);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  void push(const T& value) { emplace(value); }
  void push(T&& value) { emplace(std::move(value)); }
  template <class... Arguments> void emplace(Arguments&&... arguments) {
    const std::lock_guard hold(lock_);
    items_.emplace_back(std::forward<Arguments>(arguments)...);
    std::push_heap(items_.begin(), items_.end(), less_);
  }
  /// Takes the greatest item. \returns false if the queue is empty \par Complexity logarithmic, under a lock
  bool try_pop(T& to) {
    const std::lock_guard hold(lock_);
    if (items_.empty()) return false;
    std::pop_heap(items_.begin(), items_.end(), less_);
    to = std::move(items_.back());
    items_.pop_back();
    return true;
  }
  bool empty() const { return size() == 0; }
  size_type size() const {
    const std::lock_guard hold(lock_);
    return items_.size();
  }

  /// No other thread may use the queue during clear, swap, assign and assignments.
  void clear() { items_.clear(); }
  void swap(concurrent_priority_queue& other) {
    std::swap(less_, other.less_);
    items_.swap(other.items_);
  }
  friend void swap(concurrent_priority_queue& a, concurrent_priority_queue& b) { a.swap(b); }
  allocator_type get_allocator() const { return allocator_type(items_.get_allocator()); }
  friend bool operator==(const concurrent_priority_queue& a, const concurrent_priority_queue& b) {
    return a.items_.size() == b.items_.size() &&
           std::is_permutation(a.items_.begin(), a.items_.end(), b.items_.begin());
  }

 private:
  [[no_unique_address]] Compare less_;
  mutable std::mutex lock_;  // guards items_
  items items_;
};
template <std::input_iterator I, class Compare = std::less<std::iter_value_t<I>>,
          class Allocator = cache_aligned_allocator<std::iter_value_t<I>>>
concurrent_priority_queue(I, I, Compare = Compare(), Allocator = Allocator())
    -> concurrent_priority_queue<std::iter_value_t<I>, Compare, Allocator>;

}  // namespace tbb
