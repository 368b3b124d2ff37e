// SPDX-License-Identifier: Apache-2.0
// The interface that the concurrent maps and sets of the TBB headers have in common.
#pragma once

#include <sukima/detail/tbb/errors.hpp>
#include <sukima/detail/tbb/value_list.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sukima::detail::tbb {

/// A value that was taken out of a container.
template <class Node, class Key, class Value, class Allocator> class value_handle {
  static constexpr bool is_set = std::is_same_v<Key, Value>;

 public:
  using key_type = Key;
  using value_type = Value;
  using allocator_type = Allocator;

  value_handle() = default;
  value_handle(value_handle&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)), maker_(std::move(other.maker_)) {}
  value_handle& operator=(value_handle&& other) noexcept {
    std::swap(node_, other.node_);
    std::swap(maker_, other.maker_);
    return *this;
  }
  ~value_handle() {
    if (node_ != nullptr) maker_->destroy(node_);
  }
  bool empty() const noexcept { return node_ == nullptr; }
  explicit operator bool() const noexcept { return node_ != nullptr; }
  void swap(value_handle& other) noexcept {
    std::swap(node_, other.node_);
    std::swap(maker_, other.maker_);
  }
  friend void swap(value_handle& a, value_handle& b) noexcept { a.swap(b); }
  allocator_type get_allocator() const { return maker_->get(); }
  Value& value() const
    requires is_set
  {
    return node_->value();
  }
  auto& key() const
    requires(!is_set)
  {
    return const_cast<Key&>(node_->value().first);
  }
  auto& mapped() const
    requires(!is_set)
  {
    return node_->value().second;
  }

 private:
  template <class, class, class, class, bool> friend class associative;
  using maker = node_maker<Value, Allocator, Node>;
  value_handle(Node* n, const maker& m) : node_(n), maker_(m) {}
  Node* node_ = nullptr;
  std::optional<maker> maker_;
};

/// Long: the interface of a container is as long as TBB has it.
/// \tparam Table        unordered_table or ordered_table
/// \tparam Transparent  whether other types than Key may be looked up
template <class Table, class Key, class Value, class Allocator, bool Transparent> class associative {
 protected:
  using mark = typename Table::mark;
  using node = typename Table::node;
  static constexpr bool is_set = std::is_same_v<Key, Value>;
  template <class K>
  static constexpr bool fits = Transparent && !std::is_same_v<K, Key>;

 public:
  using key_type = Key;
  using value_type = Value;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using allocator_type = Allocator;
  using reference = Value&;
  using const_reference = const Value&;
  using pointer = typename std::allocator_traits<Allocator>::pointer;
  using const_pointer = typename std::allocator_traits<Allocator>::const_pointer;
  using const_iterator = list_iterator<const Value>;
  /// A set has it, too: a program may change parts of its elements that are not in the key.
  using iterator = list_iterator<Value>;
  using range_type = list_range<iterator>;
  using const_range_type = list_range<const_iterator>;
  using node_type = value_handle<node, Key, Value, Allocator>;

  allocator_type get_allocator() const { return table_.allocator(); }
  iterator begin() { return iterator(table_.first()); }
  const_iterator begin() const { return const_iterator(table_.first()); }
  const_iterator cbegin() const { return begin(); }
  iterator end() { return {}; }
  const_iterator end() const { return {}; }
  const_iterator cend() const { return {}; }
  range_type range(size_type grainsize = 1) { return {begin(), end(), size(), grainsize}; }
  const_range_type range(size_type grainsize = 1) const { return {begin(), end(), size(), grainsize}; }
  bool empty() const noexcept { return size() == 0; }
  size_type size() const noexcept { return table_.size(); }
  size_type max_size() const noexcept { return static_cast<size_type>(-1) / sizeof(node); }

  /// \returns the value with this key, and whether it is new
  std::pair<iterator, bool> insert(const Value& value) {
    return found(table_.try_emplace(tbb::key_of<Key>(value), value));
  }
  std::pair<iterator, bool> insert(Value&& value) {
    return found(table_.try_emplace(tbb::key_of<Key>(value), std::move(value)));
  }
  template <class P>
    requires(std::is_constructible_v<Value, P &&> && !std::is_same_v<std::remove_cvref_t<P>, Value> &&
             !std::is_same_v<std::remove_cvref_t<P>, node_type>)
  std::pair<iterator, bool> insert(P&& value) {
    return emplace(std::forward<P>(value));
  }
  iterator insert(const_iterator, const Value& value) { return insert(value).first; }
  iterator insert(const_iterator, Value&& value) { return insert(std::move(value)).first; }
  template <class P>
    requires(std::is_constructible_v<Value, P &&> && !std::is_same_v<std::remove_cvref_t<P>, Value> &&
             !std::is_same_v<std::remove_cvref_t<P>, node_type>)
  iterator insert(const_iterator, P&& value) {
    return emplace(std::forward<P>(value)).first;
  }
  template <std::input_iterator I>
    requires(!std::is_convertible_v<I, const_iterator> ||
             std::is_constructible_v<Value, std::iter_reference_t<I>>)
  void insert(I first, I last) {
    for (; first != last; ++first) insert(*first);
  }
  void insert(std::initializer_list<Value> values) { insert(values.begin(), values.end()); }
  std::pair<iterator, bool> insert(node_type&& from) {
    if (from.empty()) return {end(), false};
    const auto result = table_.insert(from.node_);
    if (result.second) from.node_ = nullptr;
    return found(result);
  }
  iterator insert(const_iterator, node_type&& from) { return insert(std::move(from)).first; }
  template <class... Arguments> std::pair<iterator, bool> emplace(Arguments&&... arguments) {
    return found(table_.emplace(std::forward<Arguments>(arguments)...));
  }
  template <class... Arguments> iterator emplace_hint(const_iterator, Arguments&&... arguments) {
    return emplace(std::forward<Arguments>(arguments)...).first;
  }
  /// Moves the values of another container whose keys are not here. No other thread may use that container.
  template <class Other> void merge(Other&& source) {
    for (auto at = source.begin(); at != source.end();) {
      const auto each = at++;
      if (!table_is_multi && contains(tbb::key_of<Key>(*each))) continue;
      auto taken = source.unsafe_extract(each);
      // Another thread may have inserted the key since.
      if (!insert(std::move(taken)).second && taken) source.insert(std::move(taken));
    }
  }

  /// No other thread may use the container during these.
  void clear() { table_.clear(); }
  iterator unsafe_erase(const_iterator at) { return iterator(table_.erase(at.node())); }
  iterator unsafe_erase(iterator at) { return iterator(table_.erase(at.node())); }
  iterator unsafe_erase(const_iterator first, const_iterator last) {
    while (first != last) first = unsafe_erase(first);
    return iterator(last.node());
  }
  size_type unsafe_erase(const Key& key) { return erase_all(key); }
  template <class K>
    requires(fits<K> && !std::is_convertible_v<K, const_iterator>)
  size_type unsafe_erase(const K& key) {
    return erase_all(key);
  }
  node_type unsafe_extract(const_iterator at) { return node_type(table_.extract(at.node()), table_.maker()); }
  node_type unsafe_extract(iterator at) { return node_type(table_.extract(at.node()), table_.maker()); }
  node_type unsafe_extract(const Key& key) { return extract_first(key); }
  template <class K>
    requires(fits<K> && !std::is_convertible_v<K, const_iterator>)
  node_type unsafe_extract(const K& key) {
    return extract_first(key);
  }

  iterator find(const Key& key) { return iterator(table_.find(key)); }
  const_iterator find(const Key& key) const { return const_iterator(table_.find(key)); }
  template <class K>
    requires fits<K>
  iterator find(const K& key) {
    return iterator(table_.find(key));
  }
  template <class K>
    requires fits<K>
  const_iterator find(const K& key) const {
    return const_iterator(table_.find(key));
  }
  bool contains(const Key& key) const { return table_.find(key) != nullptr; }
  template <class K>
    requires fits<K>
  bool contains(const K& key) const {
    return table_.find(key) != nullptr;
  }
  size_type count(const Key& key) const { return count_of(key); }
  template <class K>
    requires fits<K>
  size_type count(const K& key) const {
    return count_of(key);
  }
  std::pair<iterator, iterator> equal_range(const Key& key) { return run_of<iterator>(key); }
  std::pair<const_iterator, const_iterator> equal_range(const Key& key) const {
    return run_of<const_iterator>(key);
  }
  template <class K>
    requires fits<K>
  std::pair<iterator, iterator> equal_range(const K& key) {
    return run_of<iterator>(key);
  }
  template <class K>
    requires fits<K>
  std::pair<const_iterator, const_iterator> equal_range(const K& key) const {
    return run_of<const_iterator>(key);
  }

  auto& operator[](const Key& key)
    requires(!is_set && !Table::is_multi)
  {
    return table_value(
        table_.try_emplace(key, std::piecewise_construct, std::forward_as_tuple(key), std::tuple<>()));
  }
  auto& operator[](Key&& key)
    requires(!is_set && !Table::is_multi)
  {
    return table_value(table_.try_emplace(key, std::piecewise_construct,
                                          std::forward_as_tuple(std::move(key)), std::tuple<>()));
  }
  /// \throws std::out_of_range
  auto& at(const Key& key)
    requires(!is_set && !Table::is_multi)
  {
    return value_at(table_.find(key)).second;
  }
  const auto& at(const Key& key) const
    requires(!is_set && !Table::is_multi)
  {
    return std::as_const(value_at(table_.find(key)).second);
  }

 protected:
  using allocators = std::allocator_traits<Allocator>;
  static constexpr bool table_is_multi = Table::is_multi;

  template <class... Arguments>
  explicit associative(std::in_place_t, Arguments&&... arguments)
      : table_(std::forward<Arguments>(arguments)...) {}
  associative(const associative&) = delete;
  associative& operator=(const associative&) = delete;
  ~associative() = default;

  /// Takes the values of a container of the same type, which may have another allocator.
  void take(associative& other) {
    if constexpr (!allocators::is_always_equal::value)
      if (get_allocator() != other.get_allocator()) {
        for (mark* n = other.table_.first(); n != nullptr; n = n->after())
          if (n->has_value) table_.emplace(std::move(static_cast<node*>(n)->value()));
        return;
      }
    table_.swap(other.table_);
  }
  /// The first step of the assignments. Takes the allocator of the other container, too, if it propagates.
  void clear_for_copy(const associative& other) {
    clear();
    if constexpr (allocators::propagate_on_container_copy_assignment::value)
      table_.maker().set(other.get_allocator());
  }
  void assign_moved(associative& other) {
    clear();
    if constexpr (allocators::propagate_on_container_move_assignment::value) {
      table_.maker().set(other.get_allocator());
      table_.swap(other.table_);  // does not need values that can be moved
    } else {
      take(other);
    }
  }
  /// Whether both have the same values.
  bool equals(const associative& other) const {
    if (size() != other.size()) return false;
    for (auto at = begin(); at != end();) {
      const auto mine = equal_range(tbb::key_of<Key>(*at));
      const auto its = other.equal_range(tbb::key_of<Key>(*at));
      if (!std::is_permutation(mine.first, mine.second, its.first, its.second)) return false;
      at = mine.second;
    }
    return true;
  }
  Table& table() noexcept { return table_; }
  const Table& table() const noexcept { return table_; }

 private:
  static std::pair<iterator, bool> found(const std::pair<mark*, bool>& result) {
    return {iterator(result.first), result.second};
  }
  static auto& table_value(const std::pair<mark*, bool>& result) {
    return static_cast<node*>(result.first)->value().second;
  }
  static Value& value_at(mark* n) {
    if (n == nullptr) throw_error(std::out_of_range("Requested key is not found"));
    return static_cast<node*>(n)->value();
  }
  template <class I, class K> std::pair<I, I> run_of(const K& key) const {
    mark* const first = table_.find(key);
    if (first == nullptr) return table_.template missing<I>(key);
    return {I(first), I(table_.end_of(first, key))};
  }
  template <class K> size_type count_of(const K& key) const {
    const auto run = run_of<const_iterator>(key);
    return static_cast<size_type>(std::distance(run.first, run.second));
  }
  template <class K> size_type erase_all(const K& key) {
    size_type erased = 0;
    const auto run = run_of<const_iterator>(key);
    for (auto at = run.first; at != run.second; ++erased) at = unsafe_erase(at);
    return erased;
  }
  template <class K> node_type extract_first(const K& key) {
    mark* const n = table_.find(key);
    return n == nullptr ? node_type() : node_type(table_.extract(n), table_.maker());
  }

  Table table_;
};

}  // namespace sukima::detail::tbb
