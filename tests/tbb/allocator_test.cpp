// SPDX-License-Identifier: Apache-2.0
// The concurrent containers keep to what an allocator says about assignments.
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_map.h>
#include <tbb/concurrent_set.h>
#include <tbb/concurrent_unordered_map.h>
#include <tbb/concurrent_unordered_set.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace {

/// Has a number. Memory of one number must not be given to an allocator with another.
template <class T, bool Propagates> struct numbered {
  using value_type = T;
  using propagate_on_container_copy_assignment = std::bool_constant<Propagates>;
  using propagate_on_container_move_assignment = std::bool_constant<Propagates>;
  using propagate_on_container_swap = std::bool_constant<Propagates>;
  using is_always_equal = std::false_type;
  template <class U> struct rebind {
    using other = numbered<U, Propagates>;
  };
  explicit numbered(int n) : number(n) {}
  template <class U> numbered(const numbered<U, Propagates>& other)  // NOLINT(google-explicit-constructor)
      : number(other.number) {}

  static constexpr std::size_t header = alignof(std::max_align_t);
  T* allocate(std::size_t n) {
    auto* const begin = static_cast<std::byte*>(::operator new(header + n * sizeof(T)));
    ::new (static_cast<void*>(begin)) int(number);
    return reinterpret_cast<T*>(begin + header);
  }
  void deallocate(T* p, std::size_t) {
    std::byte* const begin = reinterpret_cast<std::byte*>(p) - header;
    EXPECT_EQ(*reinterpret_cast<int*>(begin), number);
    ::operator delete(begin);
  }
  template <class U> bool operator==(const numbered<U, Propagates>& other) const {
    return number == other.number;
  }
  int number;
};

template <class Container> void check_assignments(bool propagates) {
  using allocator = typename Container::allocator_type;
  Container first{allocator(1)};
  Container second{allocator(2)};
  for (int i = 0; i < 100; ++i) first.insert({i, 2 * i});
  second.insert({1000, 0});
  second = first;
  EXPECT_EQ(second.size(), 100u);
  EXPECT_EQ(first.size(), 100u);
  EXPECT_EQ(second.get_allocator().number, propagates ? 1 : 2);
  Container third{allocator(3)};
  third.insert({1000, 0});
  third = std::move(first);
  EXPECT_EQ(third.size(), 100u);
  EXPECT_EQ(third.get_allocator().number, propagates ? 1 : 3);
  EXPECT_EQ(third.count(99), 1u);
  EXPECT_EQ(third.count(1000), 0u);
  first.insert({5, 6});  // what was moved from may be used again
  const Container moved(std::move(third));
  EXPECT_EQ(moved.size(), 100u);
  EXPECT_EQ(moved.get_allocator().number, propagates ? 1 : 3);
}
template <bool Propagates> using entries = numbered<std::pair<const int, int>, Propagates>;
template <bool Propagates> void check_maps() {
  using a = entries<Propagates>;
  check_assignments<tbb::concurrent_map<int, int, std::less<>, a>>(Propagates);
  check_assignments<tbb::concurrent_hash_map<int, int, tbb::tbb_hash_compare<int>, a>>(Propagates);
  check_assignments<tbb::concurrent_unordered_map<int, int, std::hash<int>, std::equal_to<>, a>>(Propagates);
}
TEST(allocators, come_along_if_they_propagate) { check_maps<true>(); }
TEST(allocators, stay_if_they_do_not_propagate) { check_maps<false>(); }

/// Neither can be moved nor compared.
struct fixed {
  fixed() = default;
  fixed(const fixed&) = delete;
  fixed& operator=(const fixed&) = delete;
};
struct compares_fixed {
  bool operator()(const fixed&, const fixed&) const { return false; }
  std::size_t operator()(const fixed&) const { return 0; }
};
TEST(allocators, that_propagate_need_no_values_that_can_be_moved) {
  using a = numbered<fixed, true>;
  const auto check = [](auto first, auto second) {
    *first = std::move(*second);
    EXPECT_TRUE(first->empty());
  };
  using set = tbb::concurrent_set<fixed, compares_fixed, a>;
  check(std::make_unique<set>(a(1)), std::make_unique<set>(a(2)));
  using unordered = tbb::concurrent_unordered_set<fixed, compares_fixed, compares_fixed, a>;
  check(std::make_unique<unordered>(a(1)), std::make_unique<unordered>(a(2)));
}

}  // namespace
