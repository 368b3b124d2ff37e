// SPDX-License-Identifier: Apache-2.0
// The table of tbb::concurrent_hash_map. Each shard has a lock, and each element has one.
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/partitioner.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace sukima::detail::tbb {

/// Long: most of its functions have a few lines, and all need the shards.
///
/// `holders` counts the table, while it contains the element, and each accessor. A thread counts itself
/// before it waits for an element's lock. Then it checks whether the element was erased in the meantime.
template <class Key, class T, class HashCompare, class Allocator> class hash_map_table {
 public:
  using value_type = std::pair<const Key, T>;
  struct node {
    node* next = nullptr;
    std::size_t hash = 0;
    shared_lock<false> lock;
    std::atomic<std::size_t> holders{1};  ///< pairs with: let_go
    std::atomic<bool> erased{false};      ///< no partner: written and read under a lock
    alignas(value_type) unsigned char memory[sizeof(value_type)];
    value_type& value() noexcept { return *std::launder(reinterpret_cast<value_type*>(memory)); }
  };

  hash_map_table() = default;
  hash_map_table(const HashCompare& compare, const Allocator& a) : compare_(compare), allocator_(a) {}
  hash_map_table(const hash_map_table&) = delete;
  hash_map_table& operator=(const hash_map_table&) = delete;
  ~hash_map_table() { clear(); }

  const HashCompare& compare() const noexcept { return compare_; }
  Allocator allocator() const { return Allocator(allocator_); }
  /// \pre all nodes of the old allocator are freed
  void set_allocator(const Allocator& a) { allocator_ = typename node_traits::allocator_type(a); }

  template <class... Arguments> node* make(Arguments&&... arguments) {
    node* const fresh = std::to_address(node_traits::allocate(allocator_, 1));
    ::new (static_cast<void*>(fresh)) node;
    try {
      value_traits values(allocator_);
      std::allocator_traits<value_traits>::construct(values, &fresh->value(),
                                                     std::forward<Arguments>(arguments)...);
      fresh->hash = compare_.hash(fresh->value().first);
    } catch (...) {
      free(fresh);
      throw;
    }
    return fresh;
  }
  /// Called when an accessor, or the table, no longer holds the node.
  void let_go(node* n) noexcept {
    if (n->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    value_traits values(allocator_);
    std::allocator_traits<value_traits>::destroy(values, &n->value());
    free(n);
  }

  template <class K> bool contains(const K& key) const {
    const std::size_t hash = compare_.hash(key);
    const shard& s = shard_of(hash);
    const std::lock_guard hold(s.lock);
    return look(s, hash, key) != nullptr;
  }
  /// \returns a node that is held and locked, or null
  template <class K> node* find(const K& key, bool writes) {
    const std::size_t hash = compare_.hash(key);
    shard& s = shard_of(hash);
    for (;;) {
      node* found = nullptr;
      {
        const std::lock_guard hold(s.lock);
        found = look(s, hash, key);
        if (found == nullptr) return nullptr;
        found->holders.fetch_add(1, std::memory_order_relaxed);
      }
      if (lock(found, writes)) return found;
    }
  }
  /// Inserts a node, or frees it if there is one with its key already.
  /// \param holds  whether the result is held and locked
  std::pair<node*, bool> insert(node* fresh, bool holds, bool writes) {
    shard& s = shard_of(fresh->hash);
    for (;;) {
      node* found = nullptr;
      {
        const std::lock_guard hold(s.lock);
        found = look(s, fresh->hash, fresh->value().first);
        if (found == nullptr) {
          grow(s);
          if (holds) {
            fresh->holders.fetch_add(1, std::memory_order_relaxed);
            if (writes)
              fresh->lock.lock();
            else
              fresh->lock.lock_shared();
          }
          node*& list = s.lists[list_of(s, fresh->hash)];
          fresh->next = list;
          list = fresh;
          s.count.fetch_add(1, std::memory_order_relaxed);
          return {fresh, true};
        }
        if (holds) found->holders.fetch_add(1, std::memory_order_relaxed);
      }
      if (holds && !lock(found, writes)) continue;
      let_go(fresh);
      return {found, false};
    }
  }
  template <class K> bool erase(const K& key) {
    const std::size_t hash = compare_.hash(key);
    shard& s = shard_of(hash);
    node* found = nullptr;
    {
      const std::lock_guard hold(s.lock);
      found = look(s, hash, key);
      if (found == nullptr) return false;
      remove(s, found);
    }
    found->lock.lock();  // waits for the accessors
    found->erased.store(true, std::memory_order_relaxed);
    found->lock.unlock();
    let_go(found);
    return true;
  }
  /// Removes a node that an accessor holds. \returns false if another thread removed it first
  bool unlink(node* n) {
    shard& s = shard_of(n->hash);
    {
      const std::lock_guard hold(s.lock);
      if (!remove(s, n)) return false;
      n->erased.store(true, std::memory_order_relaxed);
    }
    let_go(n);
    return true;
  }

  std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (const shard& s : shards_) sum += s.count.load(std::memory_order_relaxed);
    return sum;
  }
  std::size_t bucket_count() const noexcept {
    std::size_t sum = 0;
    for (const shard& s : shards_) {
      const std::lock_guard hold(s.lock);
      sum += std::max(s.lists.size(), smallest);
    }
    return sum;
  }
  void reserve(std::size_t n) {
    for (shard& s : shards_) {
      const std::lock_guard hold(s.lock);
      std::size_t wanted = std::max(s.lists.size(), smallest);
      while (wanted * shard_count < n) wanted *= 2;
      if (wanted != s.lists.size()) relist(s, wanted);
    }
  }
  void clear() noexcept {
    for (shard& s : shards_) {
      for (node* list : s.lists)
        while (list != nullptr) let_go(std::exchange(list, list->next));
      s.lists.clear();
      s.count.store(0, std::memory_order_relaxed);
    }
  }
  void swap(hash_map_table& other) {
    std::swap(compare_, other.compare_);
    if constexpr (node_traits::propagate_on_container_swap::value) std::swap(allocator_, other.allocator_);
    for (std::size_t i = 0; i < shard_count; ++i) {
      shards_[i].lists.swap(other.shards_[i].lists);
      const std::size_t mine = shards_[i].count.load(std::memory_order_relaxed);
      shards_[i].count.store(other.shards_[i].count.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
      other.shards_[i].count.store(mine, std::memory_order_relaxed);
    }
  }

  /// \tparam V  value_type, perhaps const
  template <class V> class iterator_of {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::remove_const_t<V>;
    using difference_type = std::ptrdiff_t;
    using pointer = V*;
    using reference = V&;
    iterator_of() = default;
    /// Converts an iterator to a const one.
    template <class W>
      requires(std::is_same_v<const W, V> && !std::is_same_v<W, V>)
    iterator_of(const iterator_of<W>& other) noexcept  // NOLINT(google-explicit-constructor)
        : of_(other.of_), at_(other.at_) {}
    reference operator*() const { return at_->value(); }
    pointer operator->() const { return &at_->value(); }
    iterator_of& operator++() {
      at_ = of_->after(at_);
      return *this;
    }
    iterator_of operator++(int) {
      iterator_of before = *this;
      ++*this;
      return before;
    }
    template <class W> bool operator==(const iterator_of<W>& other) const noexcept {
      return at_ == other.at_;
    }

   private:
    template <class> friend class iterator_of;
    friend hash_map_table;
    iterator_of(const hash_map_table* of, node* at) noexcept : of_(of), at_(at) {}
    const hash_map_table* of_ = nullptr;
    node* at_ = nullptr;
  };
  /// Some of the shards.
  template <class V> class range_of {
   public:
    using iterator = iterator_of<V>;
    using value_type = std::remove_const_t<V>;
    using reference = V&;
    using const_reference = const V&;
    using difference_type = std::ptrdiff_t;
    using size_type = std::size_t;
    range_of(const hash_map_table& of, std::size_t grainsize) : of_(&of), grainsize_(grainsize) {}
    /// A range of a const container from one of the same container.
    template <class W>
      requires(std::is_same_v<const W, V> && !std::is_same_v<W, V>)
    range_of(const range_of<W>& r)  // NOLINT(google-explicit-constructor)
        : of_(r.of_), first_(r.first_), last_(r.last_), grainsize_(r.grainsize_) {}
    range_of(range_of& r, ::tbb::split)
        : of_(r.of_), first_(r.first_ + (r.last_ - r.first_) / 2), last_(r.last_), grainsize_(r.grainsize_) {
      r.last_ = first_;
    }
    bool empty() const { return begin() == end(); }
    bool is_divisible() const { return last_ - first_ > 1; }
    size_type grainsize() const { return grainsize_; }
    iterator begin() const { return at(first_); }
    iterator end() const { return at(last_); }

   private:
    template <class> friend class range_of;
    iterator at(std::size_t number) const { return {of_, of_->first_from(number, 0)}; }
    const hash_map_table* of_;
    std::size_t first_ = 0;
    std::size_t last_ = shard_count;
    std::size_t grainsize_;
  };
  template <class V> iterator_of<V> first() const { return {this, first_from(0, 0)}; }
  template <class V, class K> iterator_of<V> position(const K& key) const {
    const std::size_t hash = compare_.hash(key);
    return {this, look(shard_of(hash), hash, key)};
  }

 private:
  using node_traits = typename std::allocator_traits<Allocator>::template rebind_traits<node>;
  using value_traits = typename std::allocator_traits<Allocator>::template rebind_alloc<value_type>;
  static constexpr std::size_t shard_count = 32;
  static constexpr std::size_t smallest = 2;

  struct shard {
    mutable std::mutex lock;  // protects lists
    std::vector<node*> lists;
    std::atomic<std::size_t> count{0};  ///< no partner: a number
  };

  /// Hashes of integers are often the integers themselves, so their bits are mixed.
  static std::size_t mixed(std::size_t hash) noexcept { return hash * 0x9e3779b97f4a7c15U; }
  shard& shard_of(std::size_t hash) noexcept { return shards_[mixed(hash) >> 59]; }
  const shard& shard_of(std::size_t hash) const noexcept { return shards_[mixed(hash) >> 59]; }
  static std::size_t list_of(const shard& s, std::size_t hash) noexcept {
    return (mixed(hash) >> 27) & (s.lists.size() - 1);
  }
  template <class K> node* look(const shard& s, std::size_t hash, const K& key) const {
    if (s.lists.empty()) return nullptr;
    for (node* n = s.lists[list_of(s, hash)]; n != nullptr; n = n->next)
      if (n->hash == hash && compare_.equal(key, n->value().first)) return n;
    return nullptr;
  }
  bool remove(shard& s, node* n) {
    for (node** at = &s.lists[list_of(s, n->hash)]; *at != nullptr; at = &(*at)->next)
      if (*at == n) {
        *at = n->next;
        s.count.fetch_sub(1, std::memory_order_relaxed);
        return true;
      }
    return false;
  }
  void grow(shard& s) {
    if (s.count.load(std::memory_order_relaxed) >= s.lists.size())
      relist(s, std::max(s.lists.size() * 2, smallest));
  }
  void relist(shard& s, std::size_t count) {
    std::vector<node*> old(count, nullptr);
    old.swap(s.lists);
    for (node* list : old)
      while (list != nullptr) {
        node* const n = std::exchange(list, list->next);
        node*& to = s.lists[list_of(s, n->hash)];
        n->next = to;
        to = n;
      }
  }
  /// \returns false, with the node let go, if it was erased while this thread waited
  bool lock(node* n, bool writes) {
    if (writes)
      n->lock.lock();
    else
      n->lock.lock_shared();
    if (!n->erased.load(std::memory_order_relaxed)) return true;
    if (writes)
      n->lock.unlock();
    else
      n->lock.unlock_shared();
    let_go(n);
    return false;
  }
  node* first_from(std::size_t number, std::size_t list) const noexcept {
    for (; number < shard_count; ++number, list = 0)
      for (; list < shards_[number].lists.size(); ++list)
        if (node* const n = shards_[number].lists[list]) return n;
    return nullptr;
  }
  node* after(node* n) const noexcept {
    if (n->next != nullptr) return n->next;
    const shard& s = shard_of(n->hash);
    return first_from(static_cast<std::size_t>(&s - shards_.data()), list_of(s, n->hash) + 1);
  }
  void free(node* n) noexcept {
    n->~node();
    node_traits::deallocate(allocator_, std::pointer_traits<typename node_traits::pointer>::pointer_to(*n),
                            1);
  }

  [[no_unique_address]] HashCompare compare_;
  [[no_unique_address]] typename node_traits::allocator_type allocator_;
  std::array<shard, shard_count> shards_;
};

}  // namespace sukima::detail::tbb
