// SPDX-License-Identifier: Apache-2.0
// The skip list of the concurrent_map and concurrent_set containers. One thread at a time inserts; any number
// of threads read at the same time without a lock.
#pragma once

#include <sukima/detail/tbb/value_list.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace sukima::detail::tbb {

inline constexpr unsigned most_skip_levels = 24;

/// A node of the lowest list. An array of pointers links it in the higher lists.
template <class Value> struct skip_node : list_node<Value> {
  unsigned levels = 0;
  std::unique_ptr<std::atomic<skip_node*>[]> higher;  ///< pairs with: set_next, next_at
};

/// \tparam Multi  equal keys may be inserted, and stay in the order of their insertion
template <class Key, class Value, class Compare, class Allocator, bool Multi> class ordered_table {
 public:
  using mark = list_mark<Value>;
  static constexpr bool is_multi = Multi;
  static constexpr unsigned most_levels = most_skip_levels;
  using node = skip_node<Value>;

  ordered_table(const Compare& less, const Allocator& a) : less_(less), maker_(a) {}
  ordered_table(const ordered_table&) = delete;
  ordered_table& operator=(const ordered_table&) = delete;
  ~ordered_table() { clear(); }

  const Compare& compare() const noexcept { return less_; }
  Allocator allocator() const { return maker_.get(); }
  node_maker<Value, Allocator, node>& maker() noexcept { return maker_; }
  mark* first() const noexcept { return head_.after(); }
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  /// The first node that is not less than a key, or null.
  template <class K> mark* lower_bound(const K& key) const {
    return after_last([&](node* n) { return less_(tbb::key_of<Key>(n->value()), key); });
  }
  /// The first node that is greater than a key, or null.
  template <class K> mark* upper_bound(const K& key) const {
    return after_last([&](node* n) { return !less_(key, tbb::key_of<Key>(n->value())); });
  }
  template <class K> mark* find(const K& key) const {
    mark* const found = lower_bound(key);
    return found == nullptr || less_(key, tbb::key_of<Key>(static_cast<node*>(found)->value())) ? nullptr
                                                                                                : found;
  }
  /// The node behind the last node with a key.
  template <class K> mark* end_of(mark*, const K& key) const { return upper_bound(key); }
  /// The empty range of a key that is not in the table.
  template <class I, class K> std::pair<I, I> missing(const K& key) const {
    const I at(upper_bound(key));
    return {at, at};
  }
  template <class... Arguments> std::pair<mark*, bool> emplace(Arguments&&... arguments) {
    node* const fresh = maker_.make(std::forward<Arguments>(arguments)...);
    try {
      const std::pair<mark*, bool> result = insert(fresh);
      if (!result.second) maker_.destroy(fresh);
      return result;
    } catch (...) {
      maker_.destroy(fresh);
      throw;
    }
  }
  /// Inserts a node unless the table has its key. \returns the node with the key, and whether it is this one
  std::pair<mark*, bool> insert(node* fresh) {
    const Key& key = tbb::key_of<Key>(fresh->value());
    const std::lock_guard hold(lock_);
    path way;
    search(way, [&](node* n) { return !less_(key, tbb::key_of<Key>(n->value())); });  // behind equal keys
    if constexpr (!Multi)
      if (way[0] != nullptr && !less_(tbb::key_of<Key>(way[0]->value()), key)) return {way[0], false};
    fresh->levels = random_levels();
    if (fresh->levels != 0) fresh->higher = std::make_unique<std::atomic<node*>[]>(fresh->levels);
    for (unsigned k = 0; k <= fresh->levels; ++k) set_next(fresh, k, next_at(way[k], k));
    for (unsigned k = 0; k <= fresh->levels; ++k) set_next(way[k], k, fresh);
    size_.fetch_add(1, std::memory_order_relaxed);
    return {fresh, true};
  }
  /// The same, but makes a value only if the table does not have its key.
  template <class K, class... Arguments>
  std::pair<mark*, bool> try_emplace(const K& key, Arguments&&... arguments) {
    if constexpr (!Multi)
      if (mark* const found = find(key)) return {found, false};
    return emplace(std::forward<Arguments>(arguments)...);
  }

  /// No other thread may use the table during the following functions.
  mark* erase(mark* n) {
    mark* const next = n->after();
    maker_.destroy(extract(n));
    return next;
  }
  /// Removes a node from the list. The caller owns it.
  node* extract(mark* n) {
    node* const gone = static_cast<node*>(n);
    const Key& key = tbb::key_of<Key>(gone->value());
    path way;
    search(way, [&](node* other) { return less_(tbb::key_of<Key>(other->value()), key); });
    for (unsigned k = 0; k <= gone->levels; ++k) {
      node* before = way[k];  // nodes with equal keys may be between
      while (next_at(before, k) != gone) before = next_at(before, k);
      set_next(before, k, next_at(gone, k));
    }
    size_.fetch_sub(1, std::memory_order_relaxed);
    return gone;
  }
  void clear() noexcept {
    for (mark* n = first(); n != nullptr;) {
      mark* const next = n->after();
      maker_.destroy(static_cast<node*>(n));
      n = next;
    }
    head_.set_after(nullptr);
    // no partner: nothing runs at the same time
    for (auto& each : heads_) each.store(nullptr, std::memory_order_relaxed);
    size_.store(0, std::memory_order_relaxed);
  }
  void swap(ordered_table& other) {
    std::swap(less_, other.less_);
    maker_.swap(other.maker_);
    mark* const mine = head_.after();
    head_.set_after(other.head_.after());
    other.head_.set_after(mine);
    for (unsigned k = 0; k < most_levels; ++k) exchange(heads_[k], other.heads_[k]);
    exchange(size_, other.size_);
  }

 private:
  /// The last node before a position, for each level; null: the head of the list.
  using path = std::array<node*, most_levels + 1>;

  template <class T> static void exchange(std::atomic<T>& a, std::atomic<T>& b) noexcept {
    const T mine = a.load(std::memory_order_relaxed);  // no partner: nothing runs at the same time
    // no partner: nothing runs at the same time
    a.store(b.load(std::memory_order_relaxed), std::memory_order_relaxed);
    b.store(mine, std::memory_order_relaxed);  // no partner: nothing runs at the same time
  }
  /// \param n  null: the head
  const std::atomic<node*>& higher_of(node* n, unsigned level) const noexcept {
    return n == nullptr ? heads_[level - 1] : n->higher[level - 1];
  }
  node* next_at(node* n, unsigned level) const noexcept {
    if (level == 0) return static_cast<node*>(n == nullptr ? head_.after() : n->after());
    const std::atomic<node*>& link = higher_of(n, level);
    return link.load(std::memory_order_acquire);  // pairs with: set_next
  }
  void set_next(node* n, unsigned level, node* to) noexcept {
    if (level == 0) {
      mark& before = n == nullptr ? head_ : *n;
      before.set_after(to);
    } else {
      auto& link = const_cast<std::atomic<node*>&>(higher_of(n, level));
      link.store(to, std::memory_order_release);  // pairs with: next_at
    }
  }
  /// Skips all nodes for which `before` holds.
  template <class Before> void search(path& way, Before before) const {
    node* at = nullptr;
    for (unsigned k = most_levels + 1; k-- > 0;) {
      for (node* next = next_at(at, k); next != nullptr && before(next); next = next_at(at, k)) at = next;
      way[k] = at;
    }
  }
  template <class Before> mark* after_last(Before before) const {
    path way;
    search(way, before);
    // Another thread may have inserted nodes since, so the following nodes are read once more.
    node* next = next_at(way[0], 0);
    while (next != nullptr && before(next)) next = next_at(next, 0);
    return next;
  }
  /// \pre the lock is held. Each level has a quarter of the nodes of the level below.
  unsigned random_levels() noexcept {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    const auto zeros = static_cast<unsigned>(std::countl_zero(random_ >> 4 | 1));
    return std::min(zeros > 4 ? (zeros - 4) / 2 : 0, most_levels);
  }

  [[no_unique_address]] Compare less_;
  node_maker<Value, Allocator, node> maker_;
  std::mutex lock_;  // held by insertions
  mark head_;
  std::array<std::atomic<node*>, most_levels> heads_{};  ///< pairs with: set_next, next_at
  std::atomic<std::size_t> size_{0};  ///< no partner: a number
  std::uint64_t random_ = 0x853c49e6748fea9bU;
};

}  // namespace sukima::detail::tbb
