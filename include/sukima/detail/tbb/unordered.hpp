// SPDX-License-Identifier: Apache-2.0
// The interface of concurrent_unordered_map and concurrent_unordered_set.
#pragma once

#include <sukima/detail/tbb/associative.hpp>
#include <sukima/detail/tbb/errors.hpp>
#include <sukima/detail/tbb/unordered_table.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace sukima::detail::tbb {

/// The key comparison that goes with a hash function for several types of keys.
template <class Hash, class Equal> struct equal_for {
  using type = Equal;
  static constexpr bool is_transparent = false;
};
template <class Hash, class Equal>
  requires requires { typename Hash::transparent_key_equal; }
struct equal_for<Hash, Equal> {
  using type = typename Hash::transparent_key_equal;
  static constexpr bool is_transparent = true;
};

template <class Key, class Value, class Hash, class Equal, class Allocator, bool Multi>
using unordered_base =
    associative<unordered_table<Key, Value, Hash, typename equal_for<Hash, Equal>::type, Allocator, Multi>,
                Key, Value, Allocator, equal_for<Hash, Equal>::is_transparent>;

/// Long: the interface of a container is as long as TBB has it.
template <class Key, class Value, class Hash, class Equal, class Allocator, bool Multi>
class unordered : public unordered_base<Key, Value, Hash, Equal, Allocator, Multi> {
  using base = unordered_base<Key, Value, Hash, Equal, Allocator, Multi>;
  static constexpr std::size_t buckets_at_first = 8;

 public:
  using hasher = Hash;
  using key_equal = typename equal_for<Hash, Equal>::type;
  using size_type = std::size_t;
  using iterator = typename base::iterator;
  using const_iterator = typename base::const_iterator;
  using local_iterator = iterator;
  using const_local_iterator = const_iterator;

  unordered() : unordered(buckets_at_first) {}
  explicit unordered(size_type buckets, const Hash& hash = Hash(), const key_equal& equal = key_equal(),
                     const Allocator& a = Allocator())
      : base(std::in_place, buckets, hash, equal, a) {}
  unordered(size_type buckets, const Allocator& a) : unordered(buckets, Hash(), key_equal(), a) {}
  unordered(size_type buckets, const Hash& hash, const Allocator& a)
      : unordered(buckets, hash, key_equal(), a) {}
  explicit unordered(const Allocator& a) : unordered(buckets_at_first, Hash(), key_equal(), a) {}
  template <std::input_iterator I>
  unordered(I first, I last, size_type buckets = buckets_at_first, const Hash& hash = Hash(),
            const key_equal& equal = key_equal(), const Allocator& a = Allocator())
      : unordered(buckets, hash, equal, a) {
    this->insert(first, last);
  }
  template <std::input_iterator I>
  unordered(I first, I last, size_type buckets, const Allocator& a)
      : unordered(first, last, buckets, Hash(), key_equal(), a) {}
  template <std::input_iterator I>
  unordered(I first, I last, size_type buckets, const Hash& hash, const Allocator& a)
      : unordered(first, last, buckets, hash, key_equal(), a) {}
  unordered(std::initializer_list<Value> values, size_type buckets = buckets_at_first,
            const Hash& hash = Hash(), const key_equal& equal = key_equal(), const Allocator& a = Allocator())
      : unordered(values.begin(), values.end(), buckets, hash, equal, a) {}
  unordered(std::initializer_list<Value> values, size_type buckets, const Allocator& a)
      : unordered(values, buckets, Hash(), key_equal(), a) {}
  unordered(std::initializer_list<Value> values, size_type buckets, const Hash& hash, const Allocator& a)
      : unordered(values, buckets, hash, key_equal(), a) {}
  unordered(const unordered& other)
      : unordered(other, std::allocator_traits<Allocator>::select_on_container_copy_construction(
                             other.get_allocator())) {}
  unordered(const unordered& other, const Allocator& a)
      : unordered(other.begin(), other.end(), other.unsafe_bucket_count(), other.hash_function(),
                  other.key_eq(), a) {}
  unordered(unordered&& other)
      : unordered(buckets_at_first, other.hash_function(), other.key_eq(), other.get_allocator()) {
    this->table().swap(other.table());
  }
  unordered(unordered&& other, const Allocator& a)
      : unordered(buckets_at_first, other.hash_function(), other.key_eq(), a) {
    this->take(other);
  }
  unordered& operator=(const unordered& other) {
    if (this == &other) return *this;
    this->clear_for_copy(other);
    this->insert(other.begin(), other.end());
    return *this;
  }
  unordered& operator=(unordered&& other) {
    if (this == &other) return *this;
    this->assign_moved(other);
    return *this;
  }
  unordered& operator=(std::initializer_list<Value> values) {
    this->clear();
    this->insert(values);
    return *this;
  }
  ~unordered() = default;

  void swap(unordered& other) { this->table().swap(other.table()); }
  friend void swap(unordered& a, unordered& b) { a.swap(b); }
  friend bool operator==(const unordered& a, const unordered& b) { return a.equals(b); }

  hasher hash_function() const { return this->table().hash(); }
  key_equal key_eq() const { return this->table().equal(); }
  float load_factor() const {
    return static_cast<float>(this->size()) / static_cast<float>(unsafe_bucket_count());
  }
  float max_load_factor() const { return this->table().max_load(); }
  void max_load_factor(float most) {
    if (!(most > 0)) throw_error(std::out_of_range("Invalid hash load factor"));
    this->table().set_max_load(most);
  }
  void rehash(size_type buckets) { this->table().rehash(buckets); }
  void reserve(size_type count) {
    rehash(static_cast<size_type>(static_cast<float>(count) / max_load_factor()) + 1);
  }
  size_type unsafe_bucket_count() const { return this->table().bucket_count(); }
  size_type unsafe_max_bucket_count() const { return size_type{1} << 62; }
  size_type unsafe_bucket_size(size_type i) const {
    return static_cast<size_type>(std::distance(unsafe_begin(i), unsafe_end(i)));
  }
  template <class K> size_type unsafe_bucket(const K& key) const { return this->table().bucket(key); }
  local_iterator unsafe_begin(size_type i) { return local_iterator(this->table().bucket_mark(i)); }
  const_local_iterator unsafe_begin(size_type i) const {
    return const_local_iterator(this->table().bucket_mark(i));
  }
  const_local_iterator unsafe_cbegin(size_type i) const { return unsafe_begin(i); }
  local_iterator unsafe_end(size_type i) { return local_iterator(this->table().bucket_end(i)); }
  const_local_iterator unsafe_end(size_type i) const {
    return const_local_iterator(this->table().bucket_end(i));
  }
  const_local_iterator unsafe_cend(size_type i) const { return unsafe_end(i); }
};

}  // namespace sukima::detail::tbb
