// SPDX-License-Identifier: Apache-2.0
// The interface of the concurrent_map and concurrent_set containers.
#pragma once

#include <sukima/detail/tbb/associative.hpp>
#include <sukima/detail/tbb/ordered_table.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace sukima::detail::tbb {

template <class Compare> inline constexpr bool compares_other_types =
    requires { typename Compare::is_transparent; };

template <class Key, class Value, class Compare, class Allocator, bool Multi>
using ordered_base = associative<ordered_table<Key, Value, Compare, Allocator, Multi>, Key, Value, Allocator,
                                 compares_other_types<Compare>>;

template <class Key, class Value, class Compare, class Allocator, bool Multi>
class ordered : public ordered_base<Key, Value, Compare, Allocator, Multi> {
  using base = ordered_base<Key, Value, Compare, Allocator, Multi>;

 public:
  using key_compare = Compare;
  using iterator = typename base::iterator;
  using const_iterator = typename base::const_iterator;
  /// Compares values by their keys.
  class value_compare {
   public:
    bool operator()(const Value& a, const Value& b) const {
      return less_(tbb::key_of<Key>(a), tbb::key_of<Key>(b));
    }

   private:
    friend class ordered;
    explicit value_compare(const Compare& less) : less_(less) {}
    Compare less_;
  };

  ordered() : ordered(Compare()) {}
  explicit ordered(const Compare& less, const Allocator& a = Allocator()) : base(std::in_place, less, a) {}
  explicit ordered(const Allocator& a) : ordered(Compare(), a) {}
  template <std::input_iterator I>
  ordered(I first, I last, const Compare& less = Compare(), const Allocator& a = Allocator())
      : ordered(less, a) {
    this->insert(first, last);
  }
  template <std::input_iterator I>
  ordered(I first, I last, const Allocator& a) : ordered(first, last, Compare(), a) {}
  ordered(std::initializer_list<Value> values, const Compare& less = Compare(),
          const Allocator& a = Allocator())
      : ordered(values.begin(), values.end(), less, a) {}
  ordered(std::initializer_list<Value> values, const Allocator& a) : ordered(values, Compare(), a) {}
  ordered(const ordered& other)
      : ordered(other, std::allocator_traits<Allocator>::select_on_container_copy_construction(
                           other.get_allocator())) {}
  ordered(const ordered& other, const Allocator& a)
      : ordered(other.begin(), other.end(), other.key_comp(), a) {}
  ordered(ordered&& other) : ordered(other.key_comp(), other.get_allocator()) {
    this->table().swap(other.table());
  }
  ordered(ordered&& other, const Allocator& a) : ordered(other.key_comp(), a) { this->take(other); }
  ordered& operator=(const ordered& other) {
    if (this == &other) return *this;
    this->clear_for_copy(other);
    this->insert(other.begin(), other.end());
    return *this;
  }
  ordered& operator=(ordered&& other) {
    if (this == &other) return *this;
    this->assign_moved(other);
    return *this;
  }
  ordered& operator=(std::initializer_list<Value> values) {
    this->clear();
    this->insert(values);
    return *this;
  }
  ~ordered() = default;

  void swap(ordered& other) { this->table().swap(other.table()); }
  friend void swap(ordered& a, ordered& b) { a.swap(b); }
  key_compare key_comp() const { return this->table().compare(); }
  value_compare value_comp() const { return value_compare(this->table().compare()); }

  iterator lower_bound(const Key& key) { return iterator(this->table().lower_bound(key)); }
  const_iterator lower_bound(const Key& key) const { return const_iterator(this->table().lower_bound(key)); }
  iterator upper_bound(const Key& key) { return iterator(this->table().upper_bound(key)); }
  const_iterator upper_bound(const Key& key) const { return const_iterator(this->table().upper_bound(key)); }
  template <class K>
    requires(base::template fits<K>)
  iterator lower_bound(const K& key) {
    return iterator(this->table().lower_bound(key));
  }
  template <class K>
    requires(base::template fits<K>)
  const_iterator lower_bound(const K& key) const {
    return const_iterator(this->table().lower_bound(key));
  }
  template <class K>
    requires(base::template fits<K>)
  iterator upper_bound(const K& key) {
    return iterator(this->table().upper_bound(key));
  }
  template <class K>
    requires(base::template fits<K>)
  const_iterator upper_bound(const K& key) const {
    return const_iterator(this->table().upper_bound(key));
  }

  friend bool operator==(const ordered& a, const ordered& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator<(const ordered& a, const ordered& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator>(const ordered& a, const ordered& b) { return b < a; }
  friend bool operator<=(const ordered& a, const ordered& b) { return !(b < a); }
  friend bool operator>=(const ordered& a, const ordered& b) { return !(a < b); }
};

}  // namespace sukima::detail::tbb
