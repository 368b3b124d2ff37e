// SPDX-License-Identifier: Apache-2.0
// enumerable_thread_specific, flattened2d and combinable.
#include <tbb/combinable.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

// As in TBB.
using thread_ints = tbb::enumerable_thread_specific<int>;
static_assert(std::is_same_v<thread_ints::iterator::value_type, int>);
static_assert(std::is_same_v<thread_ints::const_iterator::value_type, const int>);
static_assert(std::random_access_iterator<thread_ints::const_iterator>);

TEST(thread_specific, each_thread_has_its_own) {
  tbb::enumerable_thread_specific<long> sums;
  std::mutex lock;
  std::set<std::thread::id> threads;
  tbb::task_arena arena(4);
  arena.execute([&] {
    tbb::parallel_for(0, 10'000, [&](int i) {
      {
        const std::lock_guard hold(lock);
        threads.insert(std::this_thread::get_id());
      }
      long& mine = sums.local();
      mine += i;
      tbb::parallel_for(0, 3, [&](int) {
        const std::lock_guard hold(lock);
        threads.insert(std::this_thread::get_id());
        ++sums.local();
      });  // the thread stays
      EXPECT_EQ(&mine, &sums.local());
    });
  });
  EXPECT_EQ(sums.size(), threads.size());
  EXPECT_EQ(sums.combine(std::plus<>()), 9999L * 5000 + 30'000);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0L), 9999L * 5000 + 30'000);
  sums.clear();
  EXPECT_TRUE(sums.empty());
}

TEST(thread_specific, says_whether_the_element_is_new) {
  tbb::enumerable_thread_specific<int> numbers(7);
  bool exists = true;
  EXPECT_EQ(numbers.local(exists), 7);
  EXPECT_FALSE(exists);
  numbers.local(exists) = 8;
  EXPECT_TRUE(exists);
  std::thread([&] { EXPECT_EQ(numbers.local(), 7); }).join();
  EXPECT_EQ(numbers.size(), 2u);
}

TEST(thread_specific, elements_are_made_in_several_ways) {
  EXPECT_EQ(tbb::enumerable_thread_specific<int>([] { return 5; }).local(), 5);
  const std::string exemplar = "like this";
  EXPECT_EQ(tbb::enumerable_thread_specific<std::string>(exemplar).local(), exemplar);
  EXPECT_EQ((tbb::enumerable_thread_specific<std::vector<int>>(std::size_t{3}, 4).local()),
            std::vector<int>(3, 4));
  EXPECT_EQ(tbb::enumerable_thread_specific<int>(9).combine(std::plus<>()), 9);
}

TEST(thread_specific, copies_keep_the_threads) {
  tbb::enumerable_thread_specific<std::string> first("none");
  first.local() = "mine";
  tbb::enumerable_thread_specific<std::string> copy(first);
  EXPECT_EQ(copy.local(), "mine");
  tbb::enumerable_thread_specific<std::string, std::allocator<std::string>, tbb::ets_key_per_instance> other(
      copy);
  EXPECT_EQ(other.local(), "mine");
  tbb::enumerable_thread_specific<std::string> moved(std::move(copy));
  EXPECT_EQ(moved.local(), "mine");
  first.local() = "changed";
  moved = first;
  EXPECT_EQ(moved.local(), "changed");
  std::thread([&] { EXPECT_EQ(moved.local(), "none"); }).join();
}

TEST(thread_specific, a_range_goes_over_all) {
  tbb::enumerable_thread_specific<int> numbers(1);
  for (int i = 0; i < 5; ++i) std::thread([&] { numbers.local() = 2; }).join();
  const int sum = tbb::parallel_reduce(
      numbers.range(), 0,
      [](const auto& part, int before) {
        for (const int each : part) before += each;
        return before;
      },
      std::plus<>());
  EXPECT_EQ(sum, 2 * static_cast<int>(numbers.size()));
}

/// As the algorithms want it: a body for the constant range takes the other one.
TEST(thread_specific, a_range_becomes_one_of_const_elements) {
  tbb::enumerable_thread_specific<int> numbers(1);
  numbers.local() = 2;
  const decltype(numbers)::const_range_type range = numbers.range();
  EXPECT_EQ(std::accumulate(range.begin(), range.end(), 0), 2);
}

TEST(thread_specific, a_flattened_view_goes_over_the_elements_of_all) {
  tbb::enumerable_thread_specific<std::vector<int>> lists;
  std::thread([&] { lists.local() = {1, 2, 3}; }).join();
  lists.local();
  const auto all = tbb::flatten2d(lists);
  EXPECT_EQ(all.size(), std::accumulate(lists.begin(), lists.end(), std::size_t{0},
                                        [](std::size_t n, const auto& each) { return n + each.size(); }));
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0),
            all.size() == 0 ? 0 : 6);  // the thread may have had the same name
}

TEST(combinable, combines) {
  tbb::combinable<int> counts([] { return 0; });
  tbb::parallel_for(0, 1000, [&](int) { ++counts.local(); });
  EXPECT_EQ(counts.combine(std::plus<>()), 1000);
  int sum = 0;
  counts.combine_each([&](int each) { sum += each; });
  EXPECT_EQ(sum, 1000);
  counts.clear();
  EXPECT_EQ(counts.combine(std::plus<>()), 0);
}

}  // namespace
