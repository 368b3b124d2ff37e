// SPDX-License-Identifier: Apache-2.0
// The list under the unordered and the ordered containers of the TBB headers. One thread at a time inserts;
// any number of threads read at the same time without a lock.
#pragma once

#include <sukima/detail/tbb/partitioner.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace sukima::detail::tbb {

/// The key of a set's value or a map's value.
template <class Key, class Value> const Key& key_of(const Value& value) noexcept {
  if constexpr (std::is_same_v<Key, Value>)
    return value;
  else
    return value.first;
}

/// A node without a value, which marks a position for the container.
template <class Value> struct list_mark {
  std::atomic<list_mark*> next{nullptr};  ///< pairs with: set_after, after
  bool has_value = false;
  std::uint64_t order = 0;  ///< the order of the list, in a hash table

  list_mark* after() const noexcept { return next.load(std::memory_order_acquire); }
  void set_after(list_mark* to) noexcept { next.store(to, std::memory_order_release); }
  /// Inserts a node behind this one, so that readers find it. \pre the lock of the container is held
  void link(list_mark& fresh) noexcept {
    fresh.set_after(after());
    set_after(&fresh);
  }
};
template <class Value> struct list_node : list_mark<Value> {
  alignas(Value) unsigned char memory[sizeof(Value)];
  Value& value() noexcept { return *std::launder(reinterpret_cast<Value*>(memory)); }
};

/// \tparam V  the value type of a container, perhaps const
template <class V> class list_iterator {
  using mark = list_mark<std::remove_const_t<V>>;

 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = std::remove_const_t<V>;
  using difference_type = std::ptrdiff_t;
  using pointer = V*;
  using reference = V&;

  list_iterator() = default;
  /// The first value at this node or behind it.
  explicit list_iterator(mark* at) noexcept : at_(at) { skip_marks(); }
  template <class W>
    requires(std::is_same_v<const W, V> && !std::is_same_v<W, V>)
  list_iterator(const list_iterator<W>& other) noexcept
      : at_(other.at_) {}  // NOLINT(google-explicit-constructor)

  reference operator*() const { return static_cast<list_node<value_type>*>(at_)->value(); }
  pointer operator->() const { return &**this; }
  list_iterator& operator++() {
    at_ = at_->after();
    skip_marks();
    return *this;
  }
  list_iterator operator++(int) {
    list_iterator before = *this;
    ++*this;
    return before;
  }
  template <class W> bool operator==(const list_iterator<W>& other) const noexcept {
    return at_ == other.at_;
  }
  /// Used by the container.
  mark* node() const noexcept { return at_; }

 private:
  template <class> friend class list_iterator;
  void skip_marks() noexcept {
    while (at_ != nullptr && !at_->has_value) at_ = at_->after();
  }
  mark* at_ = nullptr;
};

/// A part of a list. It is divided at its middle, which is searched node by node.
template <class I> class list_range {
 public:
  using iterator = I;
  using value_type = typename I::value_type;
  using reference = typename I::reference;
  using const_reference = const value_type&;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;

  list_range(I begin, I end, size_type count, size_type grainsize = 1)
      : begin_(begin), end_(end), count_(count), grainsize_(grainsize) {}
  /// A range of a const container from one of the same container.
  template <class J>
    requires(std::convertible_to<J, I> && !std::same_as<J, I>)
  list_range(const list_range<J>& r)  // NOLINT(google-explicit-constructor)
      : begin_(r.begin_), end_(r.end_), count_(r.count_), grainsize_(r.grainsize_) {}
  list_range(list_range& r, ::tbb::split)
      : begin_(std::next(r.begin_, static_cast<difference_type>(r.count_ / 2))),
        end_(r.end_),
        count_(r.count_ - r.count_ / 2),
        grainsize_(r.grainsize_) {
    r.end_ = begin_;
    r.count_ /= 2;
  }
  bool empty() const { return begin_ == end_; }
  bool is_divisible() const { return count_ > grainsize_; }
  size_type grainsize() const { return grainsize_; }
  I begin() const { return begin_; }
  I end() const { return end_; }

 private:
  template <class> friend class list_range;
  I begin_;
  I end_;
  size_type count_;
  size_type grainsize_;
};

/// Makes and frees nodes with the allocator of a container.
template <class Value, class Allocator, class Node> class node_maker {
  using traits = typename std::allocator_traits<Allocator>::template rebind_traits<Node>;
  using values = typename std::allocator_traits<Allocator>::template rebind_alloc<Value>;

 public:
  explicit node_maker(const Allocator& a) : allocator_(a) {}
  template <class... Arguments> Node* make(Arguments&&... arguments) {
    Node* const fresh = std::to_address(traits::allocate(allocator_, 1));
    ::new (static_cast<void*>(fresh)) Node;
    try {
      values maker(allocator_);
      std::allocator_traits<values>::construct(maker, &fresh->value(), std::forward<Arguments>(arguments)...);
    } catch (...) {
      free(fresh);
      throw;
    }
    fresh->has_value = true;
    return fresh;
  }
  void destroy(Node* n) noexcept {
    values maker(allocator_);
    std::allocator_traits<values>::destroy(maker, &n->value());
    free(n);
  }
  Allocator get() const { return Allocator(allocator_); }
  /// \pre no node of the old allocator is left
  void set(const Allocator& a) { allocator_ = typename traits::allocator_type(a); }
  void swap(node_maker& other) noexcept {
    if constexpr (traits::propagate_on_container_swap::value) std::swap(allocator_, other.allocator_);
  }

 private:
  void free(Node* n) noexcept {
    n->~Node();
    traits::deallocate(allocator_, std::pointer_traits<typename traits::pointer>::pointer_to(*n), 1);
  }
  [[no_unique_address]] typename traits::allocator_type allocator_;
};

}  // namespace sukima::detail::tbb
