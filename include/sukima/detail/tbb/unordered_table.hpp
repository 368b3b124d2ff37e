// SPDX-License-Identifier: Apache-2.0
// The hash table of the unordered containers. It is a list in the order of the reversed hash values, with a
// mark in front of each bucket (Shalev and Shavit's split-ordered list), so it can grow while threads read
// it.
#pragma once

#include <sukima/detail/tbb/value_list.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sukima::detail::tbb {

/// Long: most of its functions have one line, and the list and its buckets belong together.
/// \tparam Multi  equal keys may be inserted, and follow one another
template <class Key, class Value, class Hash, class Equal, class Allocator,
          bool Multi> class unordered_table {
 public:
  using mark = list_mark<Value>;
  static constexpr bool is_multi = Multi;
  using node = list_node<Value>;

  unordered_table(std::size_t buckets, const Hash& hash, const Equal& equal, const Allocator& a)
      : hash_(hash), equal_(equal), maker_(a) {
    start(buckets);
  }
  unordered_table(const unordered_table&) = delete;
  unordered_table& operator=(const unordered_table&) = delete;
  ~unordered_table() { destroy_all(); }

  const Hash& hash() const noexcept { return hash_; }
  const Equal& equal() const noexcept { return equal_; }
  Allocator allocator() const { return maker_.get(); }
  node_maker<Value, Allocator, node>& maker() noexcept { return maker_; }
  mark* first() const noexcept { return now()[0]; }
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  /// The first node with this key, or null.
  template <class K> mark* find(const K& key) const {
    const std::uint64_t hash = hash_(key);
    mark* const before = before_first(hash, key);
    return before == nullptr ? nullptr : before->after();
  }
  /// The node behind the last node with the key that `found` has.
  template <class K> mark* end_of(mark* found, const K& key) const {
    do found = found->after();
    while (found != nullptr && is(found, order_of(hash_(key)), key));
    return found;
  }
  /// The empty range of a key that is not in the table.
  template <class I, class K> std::pair<I, I> missing(const K&) const { return {I(), I()}; }
  /// Makes a value, and inserts it unless the table has its key.
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
    const std::uint64_t hash = key_hash(fresh);
    fresh->order = order_of(hash);
    const Key& key = tbb::key_of<Key>(fresh->value());
    const std::lock_guard hold(lock_);
    if (static_cast<float>(size() + 1) > max_load_ * static_cast<float>(bucket_count()))
      grow_to(bucket_count() * 2);
    mark* before = before_first(hash, key);
    if (before == nullptr) {
      before = last_up_to(mark_of(hash), fresh->order);
    } else {
      before = before->after();
      if constexpr (!Multi) return {before, false};
      while (before->after() != nullptr && is(before->after(), fresh->order, key)) before = before->after();
    }
    before->link(*fresh);
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
    mark* before = mark_of(key_hash(gone));
    while (before->after() != n) before = before->after();
    before->set_after(n->after());
    size_.fetch_sub(1, std::memory_order_relaxed);
    return gone;
  }
  void clear() {
    const std::size_t buckets = bucket_count();
    destroy_all();
    start(buckets);
  }
  void swap(unordered_table& other) {
    std::swap(hash_, other.hash_);
    std::swap(equal_, other.equal_);
    maker_.swap(other.maker_);
    tables_.swap(other.tables_);
    marks_.swap(other.marks_);
    std::swap(max_load_, other.max_load_);
    table* const mine = now_.load(std::memory_order_relaxed);
    now_.store(other.now_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    other.now_.store(mine, std::memory_order_relaxed);
    const std::size_t count = size();
    size_.store(other.size(), std::memory_order_relaxed);
    other.size_.store(count, std::memory_order_relaxed);
  }
  void rehash(std::size_t buckets) {
    const std::lock_guard hold(lock_);
    grow_to(std::max(buckets, static_cast<std::size_t>(std::ceil(static_cast<float>(size()) / max_load_))));
  }
  float max_load() const noexcept { return max_load_; }
  void set_max_load(float most) noexcept { max_load_ = most; }
  std::size_t bucket_count() const noexcept { return now().size(); }
  template <class K> std::size_t bucket(const K& key) const { return hash_(key) & (bucket_count() - 1); }
  /// A bucket is the nodes from its mark to its end.
  mark* bucket_mark(std::size_t i) const noexcept { return now()[i]; }
  mark* bucket_end(std::size_t i) const noexcept {
    mark* n = now()[i]->after();
    while (n != nullptr && n->has_value) n = n->after();
    return n;
  }

 private:
  using table = std::vector<mark*>;
  static constexpr std::size_t fewest = 8;

  static std::uint64_t reversed(std::uint64_t x) noexcept {
    x = (x >> 1 & 0x5555555555555555U) | (x & 0x5555555555555555U) << 1;
    x = (x >> 2 & 0x3333333333333333U) | (x & 0x3333333333333333U) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fU) | (x & 0x0f0f0f0f0f0f0f0fU) << 4;
    return __builtin_bswap64(x);
  }
  /// The order of a value. The order of a mark has the lowest bit 0.
  static std::uint64_t order_of(std::uint64_t hash) noexcept { return reversed(hash) | 1; }
  std::uint64_t key_hash(node* n) const { return hash_(tbb::key_of<Key>(n->value())); }
  const table& now() const noexcept { return *now_.load(std::memory_order_acquire); }
  mark* mark_of(std::uint64_t hash) const noexcept {
    const table& t = now();
    return t[hash & (t.size() - 1)];
  }
  template <class K> bool is(mark* n, std::uint64_t order, const K& key) const {
    if (!n->has_value) return false;
    return n->order == order && equal_(key, tbb::key_of<Key>(static_cast<node*>(n)->value()));
  }
  /// The node in front of the first node with a key, or null. A mark does not end the search, because it may
  /// be newer than the table that this thread has read.
  template <class K> mark* before_first(std::uint64_t hash, const K& key) const {
    const std::uint64_t order = order_of(hash);
    mark* before = mark_of(hash);
    for (mark* n = before->after(); n != nullptr && n->order <= order; before = n, n = n->after())
      if (is(n, order, key)) return before;
    return nullptr;
  }
  /// The last node from here on whose order is not greater than this one.
  static mark* last_up_to(mark* before, std::uint64_t order) noexcept {
    for (mark* n = before->after(); n != nullptr && n->order <= order; n = n->after()) before = n;
    return before;
  }

  void start(std::size_t buckets) {
    marks_.emplace_back();
    tables_.push_back(std::make_unique<table>(1, &marks_.back()));
    now_.store(tables_.back().get(), std::memory_order_release);
    grow_to(buckets);
  }
  /// \pre the lock is held. Readers continue to use the old table, which is kept.
  void grow_to(std::size_t buckets) {
    const std::size_t wanted = std::bit_ceil(std::max(buckets, fewest));
    const std::size_t before = bucket_count();
    if (wanted <= before) return;
    auto fresh = std::make_unique<table>(now());
    fresh->reserve(wanted);
    tables_.reserve(tables_.size() + 1);
    for (std::size_t i = before; i < wanted; ++i) {
      mark& added = marks_.emplace_back();
      added.order = reversed(i);
      mark* const divided = (*fresh)[i ^ std::bit_floor(i)];
      last_up_to(divided, added.order)->link(added);
      fresh->push_back(&added);
    }
    tables_.push_back(std::move(fresh));
    now_.store(tables_.back().get(), std::memory_order_release);
  }
  void destroy_all() noexcept {
    for (mark* n = first(); n != nullptr;) {
      mark* const next = n->after();
      if (n->has_value) maker_.destroy(static_cast<node*>(n));
      n = next;
    }
    tables_.clear();
    marks_.clear();
    size_.store(0, std::memory_order_relaxed);
  }

  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
  node_maker<Value, Allocator, node> maker_;
  std::mutex lock_;  // held by insertions
  std::deque<mark> marks_;
  std::vector<std::unique_ptr<table>> tables_;
  std::atomic<table*> now_{nullptr};  ///< pairs with: now, grow_to
  std::atomic<std::size_t> size_{0};  ///< no partner: a number
  float max_load_ = 4;
};

}  // namespace sukima::detail::tbb
