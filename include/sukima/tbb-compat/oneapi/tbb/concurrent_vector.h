// SPDX-License-Identifier: Apache-2.0
// tbb::concurrent_vector: a vector that grows while other threads use it, and never moves an element.
#pragma once

#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/detail/container_range.h>
#include <sukima/detail/tbb/errors.hpp>
#include <sukima/detail/tbb/indexed_iterator.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tbb {

/// Long: the interface of a container is as long as TBB has it.
/// Segment k has 8 · 2^k elements, so segments are never moved. An element whose constructor threw is filled
/// with zeros, and so are the elements after it in the same call.
template <class T, class Allocator = cache_aligned_allocator<T>> class concurrent_vector {
  using traits = typename std::allocator_traits<Allocator>::template rebind_traits<T>;
  using element_allocator = typename traits::allocator_type;

 public:
  using value_type = T;
  using allocator_type = Allocator;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = typename std::allocator_traits<Allocator>::pointer;
  using const_pointer = typename std::allocator_traits<Allocator>::const_pointer;
  using iterator = ::sukima::detail::tbb::indexed_iterator<concurrent_vector, T>;
  using const_iterator = ::sukima::detail::tbb::indexed_iterator<const concurrent_vector, const T>;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;
  using range_type = ::sukima::detail::tbb::container_range<iterator>;
  using const_range_type = ::sukima::detail::tbb::container_range<const_iterator>;

  concurrent_vector() : concurrent_vector(Allocator()) {}
  explicit concurrent_vector(const Allocator& a) noexcept : allocator_(a) {}
  explicit concurrent_vector(size_type count, const T& value, const Allocator& a = Allocator())
      : concurrent_vector(a) {
    grow_by(count, value);
  }
  explicit concurrent_vector(size_type count, const Allocator& a = Allocator()) : concurrent_vector(a) {
    grow_by(count);
  }
  template <std::input_iterator I>
  concurrent_vector(I first, I last, const Allocator& a = Allocator()) : concurrent_vector(a) {
    grow_by(first, last);
  }
  concurrent_vector(std::initializer_list<T> values, const Allocator& a = Allocator())
      : concurrent_vector(values.begin(), values.end(), a) {}
  concurrent_vector(const concurrent_vector& other)
      : concurrent_vector(other, std::allocator_traits<Allocator>::select_on_container_copy_construction(
                                     other.get_allocator())) {}
  concurrent_vector(const concurrent_vector& other, const Allocator& a)
      : concurrent_vector(other.begin(), other.end(), a) {}
  concurrent_vector(concurrent_vector&& other) noexcept : allocator_(std::move(other.allocator_)) {
    steal(other);
  }
  concurrent_vector(concurrent_vector&& other, const Allocator& a) : allocator_(a) { take(other); }
  ~concurrent_vector() { release(); }

  concurrent_vector& operator=(const concurrent_vector& other) {
    if (this == &other) return *this;
    if constexpr (traits::propagate_on_container_copy_assignment::value) {
      if (allocator_ != other.allocator_) release();
      allocator_ = other.allocator_;
    }
    assign(other.begin(), other.end());
    return *this;
  }
  concurrent_vector& operator=(concurrent_vector&& other) noexcept(
      traits::propagate_on_container_move_assignment::value || traits::is_always_equal::value) {
    if (this == &other) return *this;
    release();
    if constexpr (traits::propagate_on_container_move_assignment::value) {
      allocator_ = std::move(other.allocator_);
      steal(other);
    } else {
      take(other);
    }
    return *this;
  }
  concurrent_vector& operator=(std::initializer_list<T> values) {
    assign(values);
    return *this;
  }
  void assign(size_type count, const T& value) {
    const T copy(value);  // it may be an element
    clear();
    grow_by(count, copy);
  }
  template <std::input_iterator I> void assign(I first, I last) {
    clear();
    grow_by(first, last);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  /// Any thread may call this and the following functions that add elements. \returns the first new element
  iterator grow_by(size_type delta) {
    return append(delta, [this](T* at, size_type) { traits::construct(allocator_, at); });
  }
  iterator grow_by(size_type delta, const T& value) {
    return append(delta, [&](T* at, size_type) { traits::construct(allocator_, at, value); });
  }
  template <std::input_iterator I> iterator grow_by(I first, I last) {
    if constexpr (std::forward_iterator<I>) {
      return append(static_cast<size_type>(std::distance(first, last)),
                    [&](T* at, size_type) { traits::construct(allocator_, at, *first++); });
    } else {
      if (first == last) return end();
      const iterator begin = push_back(*first);
      while (++first != last) push_back(*first);
      return begin;
    }
  }
  iterator grow_by(std::initializer_list<T> values) { return grow_by(values.begin(), values.end()); }
  iterator grow_to_at_least(size_type n) {
    return append_to(n, [this](T* at, size_type) { traits::construct(allocator_, at); });
  }
  iterator grow_to_at_least(size_type n, const T& value) {
    return append_to(n, [&](T* at, size_type) { traits::construct(allocator_, at, value); });
  }
  iterator push_back(const T& value) { return emplace_back(value); }
  iterator push_back(T&& value) { return emplace_back(std::move(value)); }
  template <class... Arguments> iterator emplace_back(Arguments&&... arguments) {
    return append(1, [&](T* at, size_type) {
      traits::construct(allocator_, at, std::forward<Arguments>(arguments)...);
    });
  }

  reference operator[](size_type i) { return at_index(i); }
  const_reference operator[](size_type i) const { return at_index(i); }
  reference at(size_type i) { return const_cast<reference>(std::as_const(*this).at(i)); }
  const_reference at(size_type i) const {
    if (i >= size())
      ::sukima::detail::tbb::throw_error(std::out_of_range("Index out of requested size range"));
    return at_index(i);
  }
  reference front() { return at_index(0); }
  const_reference front() const { return at_index(0); }
  reference back() { return at_index(size() - 1); }
  const_reference back() const { return at_index(size() - 1); }
  /// For the iterators.
  reference at_index(size_type i) { return const_cast<reference>(std::as_const(*this).at_index(i)); }
  const_reference at_index(size_type i) const {
    // The highest bit gives the segment, and the other bits give the position in it. (With `| 1` compilers
    // see that a highest bit exists.)
    const size_type number = i + smallest;
    const auto highest = static_cast<unsigned>(std::bit_width(number | 1)) - 1;
    return segments_[highest - smallest_bit].load(
        std::memory_order_acquire)[number - (size_type{1} << highest)];
  }

  iterator begin() { return {*this, 0}; }
  const_iterator begin() const { return {*this, 0}; }
  const_iterator cbegin() const { return begin(); }
  iterator end() { return {*this, size()}; }
  const_iterator end() const { return {*this, size()}; }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator crbegin() const { return rbegin(); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  const_reverse_iterator crend() const { return rend(); }
  range_type range(size_type grainsize = 1) { return {begin(), end(), grainsize}; }
  const_range_type range(size_type grainsize = 1) const { return {begin(), end(), grainsize}; }

  /// Returns the number of elements, including those under construction.
  size_type size() const noexcept { return size_.load(std::memory_order_acquire); }
  bool empty() const noexcept { return size() == 0; }
  size_type max_size() const noexcept { return traits::max_size(allocator_); }
  size_type capacity() const noexcept {
    unsigned k = 0;
    while (k < segments && segments_[k].load(std::memory_order_acquire) != nullptr) ++k;
    return first_of(k);
  }

  /// No other thread may use the vector during reserve, resize, shrink_to_fit, swap, assign and clear.
  void reserve(size_type n) {
    if (n > max_size())
      ::sukima::detail::tbb::throw_error(
          std::length_error("Attempt to exceed implementation defined length limits"));
    if (n > 0) allocate_to(n);
  }
  void resize(size_type n) {
    shrink(n);
    if (n > size()) grow_by(n - size());
  }
  void resize(size_type n, const T& value) {
    shrink(n);
    if (n > size()) grow_by(n - size(), value);
  }
  void shrink_to_fit() { free_from(empty() ? 0 : segment_of(size() - 1) + 1); }
  void swap(concurrent_vector& other) noexcept {
    if constexpr (traits::propagate_on_container_swap::value) std::swap(allocator_, other.allocator_);
    for (unsigned k = 0; k < segments; ++k) {
      T* const mine = segments_[k].load(std::memory_order_relaxed);
      segments_[k].store(other.segments_[k].load(std::memory_order_relaxed), std::memory_order_relaxed);
      other.segments_[k].store(mine, std::memory_order_relaxed);
    }
    const size_type mine = size_.load(std::memory_order_relaxed);
    size_.store(other.size_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    other.size_.store(mine, std::memory_order_relaxed);
  }
  friend void swap(concurrent_vector& a, concurrent_vector& b) noexcept { a.swap(b); }
  void clear() { shrink(0); }
  allocator_type get_allocator() const { return allocator_type(allocator_); }

  friend bool operator==(const concurrent_vector& a, const concurrent_vector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator<(const concurrent_vector& a, const concurrent_vector& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator>(const concurrent_vector& a, const concurrent_vector& b) { return b < a; }
  friend bool operator<=(const concurrent_vector& a, const concurrent_vector& b) { return !(b < a); }
  friend bool operator>=(const concurrent_vector& a, const concurrent_vector& b) { return !(a < b); }

 private:
  static constexpr unsigned segments = 60;
  static constexpr size_type smallest = 8;
  static constexpr unsigned smallest_bit = std::countr_zero(smallest);
  static unsigned segment_of(size_type i) noexcept {
    return static_cast<unsigned>(std::bit_width(i / smallest + 1)) - 1;
  }
  static size_type first_of(unsigned k) noexcept { return smallest * ((size_type{1} << k) - 1); }
  static size_type length_of(unsigned k) noexcept { return smallest << k; }

  /// Allocates all segments for n elements. \pre n > 0
  void allocate_to(size_type n) {
    for (unsigned k = 0; k <= segment_of(n - 1); ++k) {
      if (segments_[k].load(std::memory_order_acquire) != nullptr) continue;
      const std::lock_guard hold(lock_);
      if (segments_[k].load(std::memory_order_relaxed) != nullptr) continue;
      segments_[k].store(std::to_address(traits::allocate(allocator_, length_of(k))),
                         std::memory_order_release);
    }
  }
  /// Constructs elements. If a constructor throws, its element and those after it become zeros, because their
  /// destructors run later.
  template <class Construct> void construct_all(size_type i, size_type last, Construct& construct) {
    try {
      for (; i < last; ++i) construct(&at_index(i), i);
    } catch (...) {
      for (; i < last; ++i) std::memset(static_cast<void*>(&at_index(i)), 0, sizeof(T));
      throw;
    }
  }
  /// Appends elements. Allocates memory first, so that a failure leaves the vector unchanged.
  template <class Construct> iterator append(size_type delta, Construct construct) {
    size_type first = size_.load(std::memory_order_relaxed);
    if (delta == 0) return {*this, first};
    do allocate_to(first + delta);
    while (!size_.compare_exchange_weak(first, first + delta, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
    construct_all(first, first + delta, construct);
    return {*this, first};
  }
  template <class Construct> iterator append_to(size_type n, Construct construct) {
    size_type first = size_.load(std::memory_order_acquire);
    while (first < n) {
      allocate_to(n);
      if (!size_.compare_exchange_weak(first, n, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      construct_all(first, n, construct);
      break;
    }
    return {*this, first};
  }
  void shrink(size_type n) noexcept {
    const size_type count = size();
    for (size_type i = n; i < count; ++i) traits::destroy(allocator_, &at_index(i));
    if (n < count) size_.store(n, std::memory_order_relaxed);
  }
  void free_from(unsigned k) noexcept {
    for (; k < segments; ++k)
      if (T* const old = segments_[k].exchange(nullptr, std::memory_order_relaxed))
        traits::deallocate(allocator_, std::pointer_traits<typename traits::pointer>::pointer_to(*old),
                           length_of(k));
  }
  void release() noexcept {
    shrink(0);
    free_from(0);
  }
  /// Takes all segments of another vector. \pre this vector is empty and has no memory
  void steal(concurrent_vector& other) noexcept {
    for (unsigned k = 0; k < segments; ++k)
      segments_[k].store(other.segments_[k].exchange(nullptr, std::memory_order_relaxed),
                         std::memory_order_relaxed);
    size_.store(other.size_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  }
  void take(concurrent_vector& other) {
    if (allocator_ == other.allocator_)
      steal(other);
    else
      grow_by(std::make_move_iterator(other.begin()), std::make_move_iterator(other.end()));
  }

  [[no_unique_address]] element_allocator allocator_;
  std::mutex lock_;  // guards the allocation of segments
  std::array<std::atomic<T*>, segments> segments_{};  ///< pairs with: allocate_to, at_index
  std::atomic<size_type> size_{0};  ///< pairs with: append, size
};

template <std::input_iterator I, class Allocator = cache_aligned_allocator<std::iter_value_t<I>>>
concurrent_vector(I, I, Allocator = Allocator()) -> concurrent_vector<std::iter_value_t<I>, Allocator>;

}  // namespace tbb
