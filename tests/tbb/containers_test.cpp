// SPDX-License-Identifier: Apache-2.0
// The concurrent containers and locks of the TBB headers: many threads use each at once, and nothing is lost.
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_map.h>
#include <tbb/concurrent_priority_queue.h>
#include <tbb/concurrent_queue.h>
#include <tbb/concurrent_set.h>
#include <tbb/concurrent_unordered_map.h>
#include <tbb/concurrent_unordered_set.h>
#include <tbb/concurrent_vector.h>
#include <tbb/mutex.h>
#include <tbb/null_mutex.h>
#include <tbb/null_rw_mutex.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/queuing_mutex.h>
#include <tbb/queuing_rw_mutex.h>
#include <tbb/rw_mutex.h>
#include <tbb/scalable_allocator.h>
#include <tbb/spin_mutex.h>
#include <tbb/spin_rw_mutex.h>
#include <tbb/task_arena.h>
#include <tbb/tbb.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <execution>  // libstdc++ must not take the headers for oneTBB's own
#include <functional>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

// Programs choose by these types.
static_assert(!std::is_same_v<tbb::mutex, tbb::spin_mutex>);
static_assert(!std::is_same_v<tbb::rw_mutex, tbb::spin_rw_mutex>);

/// Its second member's constructor may throw when the first one has memory.
struct fragile {
  struct thrower {
    explicit thrower(bool throws) {
      if (throws) throw std::runtime_error("fragile");
    }
  };
  explicit fragile(bool throws = true) : thrown(throws) {}
  std::string text = std::string(1000, 'x');
  thrower thrown;
};

/// The destructor must not find the remains of elements whose constructors have thrown, nor of earlier ones.
TEST(concurrent_vector, holds_zeros_where_a_constructor_has_thrown) {
  tbb::concurrent_vector<fragile> all;
  EXPECT_THROW(all.emplace_back(true), std::runtime_error);
  all.emplace_back(false);
  all.clear();
  for (int i = 0; i < 8; ++i) all.emplace_back(false);
  all.clear();
  EXPECT_THROW(all.grow_by(8), std::runtime_error);
  EXPECT_EQ(all.size(), 8u);
}

/// Memory that is full of ones.
template <class T> struct filled_memory {
  using value_type = T;
  filled_memory() = default;
  template <class U> filled_memory(const filled_memory<U>&) noexcept {}
  static inline std::vector<std::vector<unsigned char>*> blocks;
  T* allocate(std::size_t n) {
    blocks.push_back(new std::vector<unsigned char>(n * sizeof(T), 0xff));
    return reinterpret_cast<T*>(blocks.back()->data());
  }
  void deallocate(T*, std::size_t) noexcept {}  // the test looks at it afterwards
  template <class U> bool operator==(const filled_memory<U>&) const noexcept { return true; }
};

/// An operating system gives a program the pages that it touches.
TEST(concurrent_vector, does_not_touch_memory_in_advance) {
  struct silent {
    silent() {}  // NOLINT(modernize-use-equals-default): it must not set `content`
    unsigned char content;
  };
  auto& blocks = filled_memory<silent>::blocks;
  {
    tbb::concurrent_vector<silent, filled_memory<silent>> all;
    all.reserve(1000);
    all.grow_by(100);
  }
  EXPECT_FALSE(blocks.empty());
  for (auto* block : blocks) {
    EXPECT_TRUE(std::all_of(block->begin(), block->end(), [](unsigned char c) { return c == 0xff; }));
    delete block;
  }
  blocks.clear();
}

/// Calls f(i) for i below n, in an arena of four.
template <class F> void four_threads(int n, F f) {
  tbb::task_arena arena(4);
  arena.execute([&] { tbb::parallel_for(0, n, f, tbb::simple_partitioner()); });
}
template <class Range> long sum_over(Range range) {
  return tbb::parallel_reduce(
      range, 0L,
      [](const Range& part, long before) {
        for (auto i = part.begin(); i != part.end(); ++i) before += *i;
        return before;
      },
      std::plus<>());
}

TEST(concurrent_vector, grows_while_it_is_used) {
  tbb::concurrent_vector<int> v;
  four_threads(2000, [&](int i) {
    const auto at = v.push_back(i);
    EXPECT_EQ(*at, i);
    const auto more = v.grow_by(2, i);
    EXPECT_EQ(more[1], i);
  });
  EXPECT_EQ(v.size(), 6000u);
  EXPECT_EQ(sum_over(v.range()), 3L * 1999 * 1000);
  v.grow_to_at_least(7000);
  EXPECT_EQ(v.size(), 7000u);
  EXPECT_EQ(v[6999], 0);
  EXPECT_THROW(v.at(7000), std::out_of_range);
  tbb::concurrent_vector<int> copy(v);
  EXPECT_EQ(copy, v);
  copy.resize(3);
  copy.shrink_to_fit();
  EXPECT_LT(copy, v);
  swap(copy, v);
  EXPECT_EQ(v.size(), 3u);
  tbb::concurrent_vector<int> moved(std::move(copy));
  EXPECT_EQ(moved.size(), 7000u);
  moved = {1, 2, 3};
  EXPECT_EQ(std::vector<int>(moved.rbegin(), moved.rend()), (std::vector<int>{3, 2, 1}));
}

TEST(concurrent_queue, items_come_once_and_in_order) {
  tbb::concurrent_queue<int> q;
  std::atomic<long> sum{0};
  four_threads(2000, [&](int i) {
    q.push(i);
    int item = 0;
    if (q.try_pop(item)) sum += item;
  });
  int item = 0;
  while (q.try_pop(item)) sum += item;
  EXPECT_EQ(sum, 1999L * 1000);
  for (int i = 0; i < 10; ++i) q.emplace(i);
  EXPECT_EQ(q.unsafe_size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(q.try_pop(item) && item == i);
  EXPECT_TRUE(q.empty());
}

TEST(concurrent_bounded_queue, a_full_and_an_empty_queue_wait) {
  tbb::concurrent_bounded_queue<int> q;
  q.set_capacity(2);
  EXPECT_EQ(q.capacity(), 2);
  std::thread producer([&] {
    for (int i = 0; i < 1000; ++i) q.push(i);
  });
  for (int i = 0; i < 1000; ++i) {
    int item = -1;
    q.pop(item);
    EXPECT_EQ(item, i);
  }
  producer.join();
  EXPECT_TRUE(q.try_push(1) && q.try_push(2));
  EXPECT_FALSE(q.try_push(3));
  EXPECT_EQ(q.size(), 2);
}

TEST(concurrent_bounded_queue, abort_ends_the_waits) {
  tbb::concurrent_bounded_queue<int> q;
  std::thread waiting([&] {
    int item = 0;
    EXPECT_THROW(q.pop(item), tbb::user_abort);
  });
  while (q.size() != -1) std::this_thread::yield();
  q.abort();
  waiting.join();
  EXPECT_EQ(q.size(), 0);
}

TEST(concurrent_bounded_queue, the_size_counts_pushes_that_wait) {
  tbb::concurrent_bounded_queue<int> q;
  q.set_capacity(1);
  q.push(1);
  std::thread waiting([&] { EXPECT_THROW(q.push(2), tbb::user_abort); });
  while (q.size() != 2) std::this_thread::yield();
  q.abort();
  waiting.join();
  EXPECT_EQ(q.size(), 1);
}

TEST(concurrent_priority_queue, the_greatest_comes_first) {
  tbb::concurrent_priority_queue<int> q;
  four_threads(1000, [&](int i) { q.push(i * 7 % 1000); });
  EXPECT_EQ(q.size(), 1000u);
  int item = 0;
  for (int i = 999; i >= 0; --i) EXPECT_TRUE(q.try_pop(item) && item == i);
  EXPECT_FALSE(q.try_pop(item));
}

TEST(concurrent_hash_map, an_accessor_locks_its_element) {
  using map = tbb::concurrent_hash_map<std::string, int>;
  map counts;
  four_threads(4000, [&](int i) {
    map::accessor a;
    counts.insert(a, std::to_string(i % 10));
    ++a->second;
  });
  EXPECT_EQ(counts.size(), 10u);
  long sum = 0;
  for (const auto& each : counts) sum += each.second;
  EXPECT_EQ(sum, 4000);
  map::const_accessor found;
  EXPECT_TRUE(counts.find(found, "3"));
  EXPECT_EQ(found->second, 400);
  EXPECT_TRUE(counts.erase(found));
  EXPECT_TRUE(found.empty());
  EXPECT_FALSE(counts.find(found, "3"));
  EXPECT_EQ(counts.count("4"), 1u);
  EXPECT_FALSE(counts.insert({"4", 1}));
  EXPECT_TRUE(counts.emplace("new", 1));
  const map copy(counts);
  EXPECT_EQ(copy, counts);
}

TEST(concurrent_hash_map, elements_are_erased_while_others_use_them) {
  using map = tbb::concurrent_hash_map<int, int>;
  map m;
  std::atomic<int> inserted{0};
  std::atomic<int> erased{0};
  four_threads(8000, [&](int i) {
    const int key = i % 5;
    if (i % 3 == 0) {
      if (m.erase(key)) ++erased;
    } else {
      map::accessor a;
      if (m.insert(a, key)) ++inserted;
      EXPECT_EQ(a->first, key);
      if (i % 7 == 0 && m.erase(a)) ++erased;
    }
  });
  EXPECT_EQ(inserted - erased, static_cast<int>(m.size()));
}

TEST(concurrent_hash_map, a_range_goes_over_all) {
  tbb::concurrent_hash_map<int, int> m;
  for (int i = 0; i < 1000; ++i) m.insert({i, i});
  std::atomic<long> sum{0};
  tbb::parallel_for(m.range(), [&](const auto& part) {
    for (const auto& each : part) sum += each.second;
  });
  EXPECT_EQ(sum, 999L * 500);
}

/// A body for ranges of a const container takes those of others.
template <class Container> void check_const_range(Container filled) {
  using range = typename Container::const_range_type;
  std::atomic<long> count{0};
  tbb::parallel_for(range(filled.range(2)), [&](const range& part) {
    EXPECT_EQ(part.grainsize(), 2u);
    count += std::distance(part.begin(), part.end());
  });
  EXPECT_EQ(count, 1000);
  static_assert(std::is_convertible_v<typename Container::range_type, range>);
}
TEST(container_ranges, become_ranges_of_const_containers) {
  std::vector<std::pair<const int, int>> pairs;
  for (int i = 0; i < 1000; ++i) pairs.emplace_back(i, i);
  using entries = tbb::concurrent_vector<std::pair<const int, int>>;
  check_const_range(entries(pairs.begin(), pairs.end()));
  check_const_range(tbb::concurrent_hash_map<int, int>(pairs.begin(), pairs.end()));
  check_const_range(tbb::concurrent_unordered_map<int, int>(pairs.begin(), pairs.end()));
  check_const_range(tbb::concurrent_map<int, int>(pairs.begin(), pairs.end()));
}

/// What a set and the keys of a map have in common.
template <class Set> void check_set() {
  Set set;
  std::atomic<int> added{0};
  four_threads(6000, [&](int i) {
    const auto [at, is_new] = set.insert(i * 37 % 2000);
    EXPECT_EQ(*at, i * 37 % 2000);
    if (is_new) ++added;
    EXPECT_TRUE(set.contains(i * 37 % 2000));
    if (i % 500 == 0) {
      std::set<int> seen(set.begin(), set.end());
      EXPECT_TRUE(seen.contains(i * 37 % 2000));
    }
  });
  EXPECT_EQ(added, 2000);
  EXPECT_EQ(set.size(), 2000u);
  EXPECT_EQ(sum_over(set.range()), 1999L * 1000);
  EXPECT_EQ(set.count(5), 1u);
  EXPECT_EQ(set.unsafe_erase(5), 1u);
  EXPECT_EQ(set.find(5), set.end());
  Set copy(set);
  EXPECT_EQ(copy, set);
  Set moved(std::move(copy));
  EXPECT_EQ(moved.size(), 1999u);
  auto taken = moved.unsafe_extract(6);
  EXPECT_EQ(taken.value(), 6);
  EXPECT_FALSE(moved.contains(6));
  EXPECT_TRUE(moved.insert(std::move(taken)).second);
  moved = {1, 2, 3};
  EXPECT_EQ(moved.size(), 3u);
}
TEST(concurrent_unordered_set, holds_each_key_once) { check_set<tbb::concurrent_unordered_set<int>>(); }
TEST(concurrent_set, holds_each_key_once) { check_set<tbb::concurrent_set<int>>(); }

/// An element of a set, which is found by a part of it.
struct counted {
  int key;
  int count;
  friend bool operator==(const counted& a, const counted& b) { return a.key == b.key; }
  friend bool operator<(const counted& a, const counted& b) { return a.key < b.key; }
};
struct hash_of_counted {
  std::size_t operator()(const counted& c) const { return std::hash<int>()(c.key); }
};
template <class Set> void check_changes_of_elements() {
  Set set;
  set.insert({1, 0});
  for (counted& each : set) ++each.count;
  ++set.find({1, 0})->count;
  EXPECT_EQ(set.begin()->count, 2);
  EXPECT_EQ(set.unsafe_extract(set.begin()).value().count, 2);
}
TEST(concurrent_unordered_set, elements_may_be_changed_beside_their_key) {
  check_changes_of_elements<tbb::concurrent_unordered_set<counted, hash_of_counted>>();
}
TEST(concurrent_set, elements_may_be_changed_beside_their_key) {
  check_changes_of_elements<tbb::concurrent_set<counted>>();
}

template <class Map> void check_map() {
  Map map;
  std::vector<std::atomic<int>> added(1000);
  four_threads(5000, [&](int i) {
    if (map.insert({i % 1000, std::to_string(i % 1000)}).second) ++added[static_cast<std::size_t>(i % 1000)];
  });
  for (const auto& each : added) EXPECT_EQ(each.load(), 1);
  EXPECT_EQ(map.at(7), "7");
  EXPECT_THROW(map.at(-1), std::out_of_range);
  map[-1] = "new";
  EXPECT_EQ(map[-1], "new");
  EXPECT_EQ(map.size(), 1001u);
}
TEST(concurrent_unordered_map, maps) { check_map<tbb::concurrent_unordered_map<int, std::string>>(); }
TEST(concurrent_map, maps) { check_map<tbb::concurrent_map<int, std::string>>(); }

template <class Multi> void check_multiset() {
  Multi set;
  four_threads(3000, [&](int i) { set.insert(i % 100); });
  EXPECT_EQ(set.size(), 3000u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(set.count(i), 30u);
  EXPECT_EQ(set.unsafe_erase(50), 30u);
  EXPECT_EQ(set.size(), 2970u);
}
TEST(concurrent_unordered_set, multi) { check_multiset<tbb::concurrent_unordered_multiset<int>>(); }
TEST(concurrent_set, multi) { check_multiset<tbb::concurrent_multiset<int>>(); }

TEST(concurrent_map, is_in_order) {
  tbb::concurrent_multimap<int, int> map;
  four_threads(2000, [&](int i) { map.emplace(i % 50, i); });
  EXPECT_TRUE(std::is_sorted(map.begin(), map.end(), map.value_comp()));
  EXPECT_EQ(map.lower_bound(10)->first, 10);
  EXPECT_EQ(map.upper_bound(10)->first, 11);
  EXPECT_EQ(map.lower_bound(50), map.end());
}

TEST(concurrent_unordered_map, buckets) {
  tbb::concurrent_unordered_map<int, int> map;
  map.max_load_factor(2);
  for (int i = 0; i < 1000; ++i) map[i] = i;
  EXPECT_LE(map.load_factor(), 2);
  std::size_t in_buckets = 0;
  for (std::size_t i = 0; i < map.unsafe_bucket_count(); ++i) in_buckets += map.unsafe_bucket_size(i);
  EXPECT_EQ(in_buckets, 1000u);
  map.rehash(5000);
  EXPECT_GE(map.unsafe_bucket_count(), 5000u);
  EXPECT_EQ(map[999], 999);
}

template <class Mutex> void check_mutex() {
  Mutex lock;
  int count = 0;
  four_threads(4000, [&](int) {
    const typename Mutex::scoped_lock hold(lock);
    ++count;
  });
  EXPECT_EQ(count, 4000);
  typename Mutex::scoped_lock first;
  EXPECT_TRUE(first.try_acquire(lock));
  std::thread([&] {
    typename Mutex::scoped_lock second;
    EXPECT_FALSE(second.try_acquire(lock));
  }).join();
  first.release();
}
TEST(locks, exclude_others) {
  check_mutex<tbb::mutex>();
  check_mutex<tbb::spin_mutex>();
  check_mutex<tbb::queuing_mutex>();
  check_mutex<tbb::rw_mutex>();
  check_mutex<tbb::spin_rw_mutex>();
  check_mutex<tbb::queuing_rw_mutex>();
}

template <class Mutex> void check_readers() {
  Mutex lock;
  std::atomic<int> readers{0};
  int value = 0;
  four_threads(2000, [&](int i) {
    typename Mutex::scoped_lock hold(lock, i % 10 == 0);
    if (i % 10 == 0) {
      EXPECT_EQ(readers, 0);
      ++value;
      hold.downgrade_to_reader();
    }
    ++readers;
    if (i % 10 == 5) {
      --readers;
      hold.upgrade_to_writer();
      EXPECT_TRUE(hold.is_writer());
      EXPECT_EQ(readers, 0);
      ++value;
    } else {
      --readers;
    }
  });
  EXPECT_EQ(value, 400);
}
TEST(locks, admit_several_readers) {
  check_readers<tbb::rw_mutex>();
  check_readers<tbb::spin_rw_mutex>();
  check_readers<tbb::queuing_rw_mutex>();
}

TEST(locks, that_lock_nothing) {
  tbb::null_mutex none;
  const tbb::null_mutex::scoped_lock one(none);
  const tbb::null_mutex::scoped_lock two(none);
  tbb::null_rw_mutex no_readers;
  tbb::null_rw_mutex::scoped_lock three(no_readers, false);
  EXPECT_TRUE(three.upgrade_to_writer());
}

TEST(allocators, give_memory) {
  std::vector<int, tbb::cache_aligned_allocator<int>> aligned(100, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned.data()) % 64, 0u);
  std::vector<int, tbb::scalable_allocator<int>> scalable(100, 2);
  EXPECT_EQ(scalable[99], 2);
  void* const memory = scalable_malloc(100);
  EXPECT_NE(memory, nullptr);
  EXPECT_GE(scalable_msize(memory), 100u);
  scalable_free(memory);
  EXPECT_EQ(scalable_msize(nullptr), 0u);
}

TEST(allocators, give_aligned_memory_or_say_why_not) {
  auto* memory = static_cast<char*>(scalable_aligned_malloc(3, 1));
  std::memcpy(memory, "abc", 3);
  memory = static_cast<char*>(scalable_aligned_realloc(memory, 5000, 4096));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 4096, 0u);
  EXPECT_EQ(std::memcmp(memory, "abc", 3), 0);
  EXPECT_EQ(scalable_aligned_realloc(memory, 0, 8), nullptr);
  for (const std::size_t alignment : {0u, 3u, 48u}) {
    errno = 0;
    EXPECT_EQ(scalable_aligned_malloc(8, alignment), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  void* other = nullptr;
  EXPECT_EQ(scalable_posix_memalign(&other, 64, 100), 0);
  scalable_free(other);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // which end such a program
  EXPECT_EQ(scalable_posix_memalign(&other, 3, 100), EINVAL);
  const volatile std::size_t too_much = SIZE_MAX;
  EXPECT_EQ(scalable_aligned_malloc(too_much, 64), nullptr);
  EXPECT_EQ(errno, ENOMEM);
#endif
  EXPECT_EQ(scalable_allocation_mode(TBBMALLOC_USE_HUGE_PAGES, 1), TBBMALLOC_NO_EFFECT);
  EXPECT_EQ(scalable_allocation_mode(99, 1), TBBMALLOC_INVALID_PARAM);
  EXPECT_EQ(scalable_allocation_command(TBBMALLOC_CLEAN_ALL_BUFFERS, nullptr), TBBMALLOC_NO_EFFECT);
  EXPECT_EQ(scalable_allocation_command(99, nullptr), TBBMALLOC_INVALID_PARAM);
}

TEST(time, a_tick_count_measures) {
  const tbb::tick_count before = tbb::tick_count::now();
  EXPECT_GE((tbb::tick_count::now() - before).seconds(), 0);
}

}  // namespace
