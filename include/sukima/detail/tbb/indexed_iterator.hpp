// SPDX-License-Identifier: Apache-2.0
// Iterators of containers that find their elements by number.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>

namespace sukima::detail::tbb {

/// \tparam Container  has at_index(i) \tparam T  const for a container that is const
template <class Container, class T> class indexed_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;  // as in TBB
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  indexed_iterator() = default;
  indexed_iterator(Container& of, std::size_t index) noexcept : of_(std::addressof(of)), index_(index) {}
  /// An iterator of a const container from one of the same container.
  template <class C, class U>
    requires(std::is_same_v<const C, Container> && !std::is_same_v<C, Container>)
  indexed_iterator(const indexed_iterator<C, U>& other) noexcept  // NOLINT(google-explicit-constructor)
      : of_(other.of_), index_(other.index_) {}

  reference operator*() const { return of_->at_index(index_); }
  pointer operator->() const { return std::addressof(**this); }
  reference operator[](difference_type i) const { return *(*this + i); }
  indexed_iterator& operator++() noexcept {
    ++index_;
    return *this;
  }
  indexed_iterator operator++(int) noexcept {
    indexed_iterator before = *this;
    ++index_;
    return before;
  }
  indexed_iterator& operator--() noexcept {
    --index_;
    return *this;
  }
  indexed_iterator operator--(int) noexcept {
    indexed_iterator before = *this;
    --index_;
    return before;
  }
  indexed_iterator& operator+=(difference_type n) noexcept {
    index_ += static_cast<std::size_t>(n);
    return *this;
  }
  indexed_iterator& operator-=(difference_type n) noexcept {
    index_ -= static_cast<std::size_t>(n);
    return *this;
  }
  friend indexed_iterator operator+(indexed_iterator i, difference_type n) noexcept { return i += n; }
  friend indexed_iterator operator+(difference_type n, indexed_iterator i) noexcept { return i += n; }
  friend indexed_iterator operator-(indexed_iterator i, difference_type n) noexcept { return i -= n; }
  template <class C, class U>
  difference_type operator-(const indexed_iterator<C, U>& other) const noexcept {
    return static_cast<difference_type>(index_ - other.index_);
  }
  template <class C, class U> bool operator==(const indexed_iterator<C, U>& other) const noexcept {
    return index_ == other.index_ && of_ == other.of_;
  }
  template <class C, class U> auto operator<=>(const indexed_iterator<C, U>& other) const noexcept {
    return index_ <=> other.index_;
  }

 private:
  template <class, class> friend class indexed_iterator;
  Container* of_ = nullptr;
  std::size_t index_ = 0;
};

}  // namespace sukima::detail::tbb
