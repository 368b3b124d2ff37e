// SPDX-License-Identifier: Apache-2.0
// tbb::concurrent_hash_map: a map whose elements are locked one by one.
#pragma once

#include <oneapi/tbb/spin_rw_mutex.h>
#include <oneapi/tbb/tbb_allocator.h>
#include <sukima/detail/tbb/hash_map_table.hpp>
#include <sukima/detail/tbb/names.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tbb {

/// The hash and the comparison of a key: std::hash and ==.
template <class Key> struct tbb_hash_compare {
  std::size_t hash(const Key& key) const { return std::hash<Key>()(key); }
  bool equal(const Key& a, const Key& b) const { return a == b; }
};

/// Long: the interface of a container is as long as TBB has it.
/// A thread locks an element with an accessor. An erased element is destroyed when no accessor holds it.
template <class Key, class T, class HashCompare = tbb_hash_compare<Key>,
          class Allocator = tbb_allocator<std::pair<const Key, T>>>
class concurrent_hash_map {
  using table = ::sukima::detail::tbb::hash_map_table<Key, T, HashCompare, Allocator>;
  using node = typename table::node;
  using allocators = std::allocator_traits<Allocator>;

 public:
  using key_type = Key;
  using mapped_type = T;
  using value_type = std::pair<const Key, T>;
  using reference = value_type&;
  using const_reference = const value_type&;
  using pointer = typename std::allocator_traits<Allocator>::pointer;
  using const_pointer = typename std::allocator_traits<Allocator>::const_pointer;
  using hash_compare_type = HashCompare;
  using allocator_type = Allocator;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = typename table::template iterator_of<value_type>;
  using const_iterator = typename table::template iterator_of<const value_type>;
  using range_type = typename table::template range_of<value_type>;
  using const_range_type = typename table::template range_of<const value_type>;

  /// Holds an element, which other threads may read at the same time.
  class const_accessor {
   public:
    using value_type = const std::pair<const Key, T>;
    const_accessor() = default;
    const_accessor(const const_accessor&) = delete;
    const_accessor& operator=(const const_accessor&) = delete;
    ~const_accessor() { release(); }
    bool empty() const { return node_ == nullptr; }
    void release() {
      if (node_ == nullptr) return;
      if (writes_)
        node_->lock.unlock();
      else
        node_->lock.unlock_shared();
      of_->let_go(std::exchange(node_, nullptr));
    }
    const_reference operator*() const { return node_->value(); }
    value_type* operator->() const { return &node_->value(); }

   protected:
    friend class concurrent_hash_map;
    table* of_ = nullptr;
    node* node_ = nullptr;
    bool writes_ = false;
  };
  /// Holds an element exclusively.
  class accessor : public const_accessor {
   public:
    using value_type = std::pair<const Key, T>;
    reference operator*() const { return this->node_->value(); }
    value_type* operator->() const { return &this->node_->value(); }
  };

  concurrent_hash_map() = default;
  explicit concurrent_hash_map(const HashCompare& compare, const Allocator& a = Allocator())
      : table_(compare, a) {}
  explicit concurrent_hash_map(const Allocator& a) : table_(HashCompare(), a) {}
  concurrent_hash_map(size_type n, const HashCompare& compare, const Allocator& a = Allocator())
      : table_(compare, a) {
    rehash(n);
  }
  concurrent_hash_map(size_type n, const Allocator& a = Allocator())
      : concurrent_hash_map(n, HashCompare(), a) {}
  template <std::input_iterator I>
  concurrent_hash_map(I first, I last, const HashCompare& compare, const Allocator& a = Allocator())
      : table_(compare, a) {
    insert(first, last);
  }
  template <std::input_iterator I>
  concurrent_hash_map(I first, I last, const Allocator& a = Allocator())
      : concurrent_hash_map(first, last, HashCompare(), a) {}
  concurrent_hash_map(std::initializer_list<value_type> values, const HashCompare& compare = HashCompare(),
                      const Allocator& a = Allocator())
      : concurrent_hash_map(values.begin(), values.end(), compare, a) {}
  concurrent_hash_map(std::initializer_list<value_type> values, const Allocator& a)
      : concurrent_hash_map(values.begin(), values.end(), HashCompare(), a) {}
  concurrent_hash_map(const concurrent_hash_map& other)
      : concurrent_hash_map(other, std::allocator_traits<Allocator>::select_on_container_copy_construction(
                                       other.get_allocator())) {}
  concurrent_hash_map(const concurrent_hash_map& other, const Allocator& a)
      : concurrent_hash_map(other.begin(), other.end(), other.table_.compare(), a) {}
  concurrent_hash_map(concurrent_hash_map&& other) : table_(other.table_.compare(), other.get_allocator()) {
    table_.swap(other.table_);
  }
  concurrent_hash_map(concurrent_hash_map&& other, const Allocator& a) : table_(other.table_.compare(), a) {
    take(other);
  }
  concurrent_hash_map& operator=(const concurrent_hash_map& other) {
    if (this == &other) return *this;
    clear();
    if constexpr (allocators::propagate_on_container_copy_assignment::value)
      table_.set_allocator(other.get_allocator());
    insert(other.begin(), other.end());
    return *this;
  }
  concurrent_hash_map& operator=(concurrent_hash_map&& other) {
    if (this == &other) return *this;
    clear();
    if constexpr (allocators::propagate_on_container_move_assignment::value) {
      table_.set_allocator(other.get_allocator());
      table_.swap(other.table_);  // does not need values that can be moved
    } else {
      take(other);
    }
    return *this;
  }
  concurrent_hash_map& operator=(std::initializer_list<value_type> values) {
    clear();
    insert(values);
    return *this;
  }
  ~concurrent_hash_map() = default;

  allocator_type get_allocator() const { return table_.allocator(); }
  /// No other thread may use the map during clear, swap and rehash.
  void clear() { table_.clear(); }
  void swap(concurrent_hash_map& other) { table_.swap(other.table_); }
  friend void swap(concurrent_hash_map& a, concurrent_hash_map& b) { a.swap(b); }
  void rehash(size_type n = 0) { table_.reserve(n); }
  size_type bucket_count() const { return table_.bucket_count(); }
  size_type size() const { return table_.size(); }
  bool empty() const { return size() == 0; }
  size_type max_size() const { return static_cast<size_type>(-1) / sizeof(node); }

  /// Looks up a key. An accessor that holds an element releases it first. \returns whether the key was found
  bool find(const_accessor& result, const Key& key) const { return look_up(result, key, false); }
  bool find(accessor& result, const Key& key) { return look_up(result, key, true); }
  template <class K> bool find(const_accessor& result, const K& key) const {
    return look_up(result, key, false);
  }
  template <class K> bool find(accessor& result, const K& key) { return look_up(result, key, true); }
  size_type count(const Key& key) const { return table_.contains(key) ? 1 : 0; }
  template <class K> size_type count(const K& key) const { return table_.contains(key) ? 1 : 0; }

  /// Inserts an element if the key is new. \returns whether the key is new
  bool insert(const_accessor& result, const Key& key) { return add_key(&result, key, false); }
  bool insert(accessor& result, const Key& key) { return add_key(&result, key, true); }
  template <class K>
    requires std::is_constructible_v<Key, const K&>
  bool insert(const_accessor& result, const K& key) {
    return add_key(&result, key, false);
  }
  template <class K>
    requires std::is_constructible_v<Key, const K&>
  bool insert(accessor& result, const K& key) {
    return add_key(&result, key, true);
  }
  bool insert(const_accessor& result, const value_type& value) {
    return add(&result, false, value.first, value);
  }
  bool insert(accessor& result, const value_type& value) { return add(&result, true, value.first, value); }
  bool insert(const_accessor& result, value_type&& value) {
    return add(&result, false, value.first, std::move(value));
  }
  bool insert(accessor& result, value_type&& value) {
    return add(&result, true, value.first, std::move(value));
  }
  bool insert(const value_type& value) { return add(nullptr, false, value.first, value); }
  bool insert(value_type&& value) { return add(nullptr, false, value.first, std::move(value)); }
  template <std::input_iterator I> void insert(I first, I last) {
    for (; first != last; ++first) insert(*first);
  }
  void insert(std::initializer_list<value_type> values) { insert(values.begin(), values.end()); }
  template <class... Arguments> bool emplace(const_accessor& result, Arguments&&... arguments) {
    return add_made(&result, false, table_.make(std::forward<Arguments>(arguments)...));
  }
  template <class... Arguments> bool emplace(accessor& result, Arguments&&... arguments) {
    return add_made(&result, true, table_.make(std::forward<Arguments>(arguments)...));
  }
  template <class... Arguments> bool emplace(Arguments&&... arguments) {
    return add_made(nullptr, false, table_.make(std::forward<Arguments>(arguments)...));
  }

  /// Erases the element with a key. \returns whether this call has erased it
  bool erase(const Key& key) { return table_.erase(key); }
  template <class K>
    requires(!std::is_base_of_v<const_accessor, K>)
  bool erase(const K& key) {
    return table_.erase(key);
  }
  /// Erases the element of an accessor, which becomes empty.
  bool erase(const_accessor& item) { return erase_held(item); }
  bool erase(accessor& item) { return erase_held(item); }

  /// No other thread may insert or erase while iterators are in use.
  iterator begin() { return table_.template first<value_type>(); }
  const_iterator begin() const { return table_.template first<const value_type>(); }
  const_iterator cbegin() const { return begin(); }
  iterator end() { return {}; }
  const_iterator end() const { return {}; }
  const_iterator cend() const { return {}; }
  template <class K> std::pair<iterator, iterator> equal_range(const K& key) {
    const iterator found = table_.template position<value_type>(key);
    return {found, found == end() ? found : std::next(found)};
  }
  template <class K> std::pair<const_iterator, const_iterator> equal_range(const K& key) const {
    const const_iterator found = table_.template position<const value_type>(key);
    return {found, found == end() ? found : std::next(found)};
  }
  range_type range(std::size_t grainsize = 1) { return {table_, grainsize}; }
  const_range_type range(std::size_t grainsize = 1) const { return {table_, grainsize}; }

  friend bool operator==(const concurrent_hash_map& a, const concurrent_hash_map& b) {
    return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const value_type& each) {
             const auto found = b.table_.template position<const value_type>(each.first);
             return found != b.end() && found->second == each.second;
           });
  }

 private:
  void hold(const_accessor& result, node* n, bool writes) const {
    result.of_ = &table_;
    result.node_ = n;
    result.writes_ = writes;
  }
  template <class K> bool look_up(const_accessor& result, const K& key, bool writes) const {
    result.release();
    node* const found = table_.find(key, writes);
    if (found == nullptr) return false;
    hold(result, found, writes);
    return true;
  }
  template <class K> bool add_key(const_accessor* result, const K& key, bool writes) {
    return add(result, writes, key, std::piecewise_construct, std::forward_as_tuple(key), std::tuple<>());
  }
  /// Makes an element only if the key is new.
  template <class K, class... Arguments>
  bool add(const_accessor* result, bool writes, const K& key, Arguments&&... arguments) {
    if (result != nullptr) result->release();
    if (result == nullptr ? table_.contains(key) : look_up(*result, key, writes)) return false;
    return add_made(result, writes, table_.make(std::forward<Arguments>(arguments)...));
  }
  bool add_made(const_accessor* result, bool writes, node* fresh) {
    if (result != nullptr) result->release();
    try {
      const auto [found, is_new] = table_.insert(fresh, result != nullptr, writes);
      if (result != nullptr) hold(*result, found, writes);
      return is_new;
    } catch (...) {  // of a comparison or of memory, before the node is linked
      table_.let_go(fresh);
      throw;
    }
  }
  bool erase_held(const_accessor& item) {
    const bool erased = table_.unlink(item.node_);
    item.release();
    return erased;
  }
  /// Takes the values of a map of the same type, whose allocator may be another one.
  void take(concurrent_hash_map& other) {
    if constexpr (!allocators::is_always_equal::value)
      if (get_allocator() != other.get_allocator()) {
        for (value_type& each : other) emplace(each.first, std::move(each.second));
        other.clear();
        return;
      }
    table_.swap(other.table_);
  }

  mutable table table_;
};

}  // namespace tbb
