// SPDX-License-Identifier: Apache-2.0
// parallel_sort and parallel_stable_sort against the standard ones: inputs of many shapes, element types,
// exceptions.
#include "rows.hpp"
#include "shapes.hpp"
#include "support.hpp"

#include <sukima/sort.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using shapes::shapes_of;
using sukima::context;
using sukima::parallel_sort;
using sukima::parallel_stable_sort;
using support::counted;
using support::test_error;

class sort_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, sort_test, support::worker_counts(), support::name_of_count);

TEST_P(sort_test, equals_the_sequential_sort) {
  for (const std::size_t n :
       std::initializer_list<std::size_t>{0, 1, 2, 3, 24, 25, 33, 129, 1000, 20'000, 500'000}) {
    if (support::sanitized && n > 20'000) continue;
    for (const auto& [name, input] : shapes_of(n)) {
      std::vector<int> expected = input;
      std::sort(expected.begin(), expected.end());
      std::vector<int> v = input;
      runtime.run([&](context c) { parallel_sort(c, v); });
      EXPECT_EQ(v, expected) << n << " " << name;
      v = input;
      runtime.run([&](context c) { parallel_stable_sort(c, v.begin(), v.end()); });
      EXPECT_EQ(v, expected) << n << " " << name;
      std::reverse(expected.begin(), expected.end());
      v = input;
      runtime.run([&] { parallel_sort(v.begin(), v.end(), std::ranges::greater{}); });
      EXPECT_EQ(v, expected) << n << " " << name << ", downward";
      v = input;
      runtime.run([&] { parallel_stable_sort(v, std::ranges::greater{}); });
      EXPECT_EQ(v, expected) << n << " " << name << ", downward";
    }
  }
}

struct card {
  int value;
  int place;
  friend bool operator==(const card&, const card&) = default;
};

TEST_P(sort_test, keeps_the_order_of_equal_elements_if_stable) {
  for (const std::size_t n : std::initializer_list<std::size_t>{10, 100, 5000, 200'000}) {
    for (const auto& [name, input] : shapes_of(n)) {
      std::vector<card> cards;
      for (const int x : input) cards.push_back({x / 3, static_cast<int>(cards.size())});
      std::vector<card> expected = cards;
      std::ranges::sort(expected, {}, [](const card& x) { return std::pair(x.value, x.place); });
      runtime.run([&](context c) { parallel_stable_sort(c, cards, {}, &card::value); });
      EXPECT_TRUE(cards == expected) << n << " " << name;
      if (support::sanitized) break;
    }
  }
}

TEST_P(sort_test, moves_elements_that_cannot_be_copied) {
  const auto make = [] {
    std::vector<std::unique_ptr<int>> v;
    std::mt19937 random(1);
    for (int i = 0; i < 30'000; ++i) v.push_back(std::make_unique<int>(static_cast<int>(random() % 5000)));
    return v;
  };
  const auto value = [](const std::unique_ptr<int>& p) { return *p; };
  auto v = make();
  runtime.run([&](context c) { parallel_sort(c, v, {}, value); });
  EXPECT_TRUE(std::ranges::is_sorted(v, {}, value));
  v = make();
  runtime.run([&](context c) { parallel_stable_sort(c, v, {}, value); });
  EXPECT_TRUE(std::ranges::is_sorted(v, {}, value));
}

TEST_P(sort_test, takes_comparators_of_references) {
  struct named {
    int number;
    std::string name;
  };
  std::vector<named> names;
  std::vector<int> numbers;
  for (int i = 0; i < 20'000; ++i) {
    numbers.push_back(i * 7919 % 20'011);
    names.push_back({numbers.back(), std::to_string(i)});
  }
  runtime.run([&](context c) {
    parallel_sort(c, names, [](named& a, named& b) { return a.number < b.number; });
    EXPECT_TRUE(std::ranges::is_sorted(names, {}, &named::number));
    parallel_stable_sort(c, names, [](named& a, named& b) { return a.name < b.name; });
    EXPECT_TRUE(std::ranges::is_sorted(names, {}, &named::name));
    parallel_stable_sort(c, numbers, [](int& a, int& b) { return a > b; });
    EXPECT_TRUE(std::ranges::is_sorted(numbers, std::greater{}));
    parallel_sort(c, numbers, [](int& a, int& b) { return a < b; });
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
  });
}

TEST_P(sort_test, takes_strings_in_other_containers) {
  std::deque<std::string> d;
  std::mt19937 random(2);
  for (int i = 0; i < 20'000; ++i) d.push_back(std::to_string(random()));
  std::deque<std::string> expected = d;
  std::ranges::sort(expected);
  std::deque<std::string> stable = d;
  runtime.run([&](context c) { parallel_sort(c, d.begin(), d.end()); });
  EXPECT_TRUE(d == expected);
  runtime.run([&] { parallel_stable_sort(stable); });
  EXPECT_TRUE(stable == expected);
}

/// A permutation of the rows moves both columns.
TEST_P(sort_test, takes_iterators_with_proxies) {
  using iterator = rows::row_iterator<long>;
  constexpr int n = 30'000;
  for (const bool stable : {false, true}) {
    std::vector<int> first;
    std::vector<long> numbers(n);
    for (int i = 0; i < n; ++i) first.push_back(i * 7919 % 20'011 / 4);
    std::iota(numbers.begin(), numbers.end(), 0L);
    const std::vector<int> before = first;
    const iterator begin{first.data(), numbers.data()};
    const auto less = [](rows::seen_row<long> a, rows::seen_row<long> b) { return a.first < b.first; };
    runtime.run([&](context c) {
      if (stable)
        parallel_stable_sort(c, begin, begin + n, less);
      else
        parallel_sort(c, begin, begin + n, less);
    });
    EXPECT_TRUE(std::ranges::is_sorted(first));
    std::vector<bool> seen(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto number = static_cast<std::size_t>(numbers[i]);
      EXPECT_FALSE(seen[number]);
      seen[number] = true;
      EXPECT_EQ(first[i], before[number]);
      if (stable && i > 0 && first[i - 1] == first[i]) {
        EXPECT_LT(numbers[i - 1], numbers[i]);
      }
    }
  }
}

/// Sorts counted objects with a comparison that throws at the end of so many calls.
template <class Sort> void expect_no_leak(Sort sort, int calls) {
  counted::reset();
  {
    std::vector<counted> v;
    std::mt19937 random(3);
    for (int i = 0; i < 5000; ++i) v.emplace_back(static_cast<int>(random() % 1000));
    const int before = counted::alive();
    std::atomic<int> left{calls};
    EXPECT_THROW(sort(v,
                      [&](const counted& a, const counted& b) {
                        if (--left <= 0) throw test_error(calls);
                        return a.value() < b.value();
                      }),
                 test_error);
    EXPECT_EQ(counted::alive(), before);
    EXPECT_EQ(counted::errors(), 0);
  }
  EXPECT_EQ(counted::alive(), 0);
}

TEST_P(sort_test, lets_exceptions_pass_and_frees_its_buffer) {
  for (const int calls : {1, 10, 1000, 5000, 20'000}) {
    expect_no_leak([&](auto& v, auto less) { runtime.run([&](context c) { parallel_sort(c, v, less); }); },
                   calls);
    expect_no_leak(
        [&](auto& v, auto less) { runtime.run([&](context c) { parallel_stable_sort(c, v, less); }); },
        calls);
  }
}

TEST_P(sort_test, loses_no_element_that_is_swapped) {
  // The large partitions come first: an exception among them leaves a permutation.
  std::vector<int> v(400'000);
  std::iota(v.begin(), v.end(), 0);
  std::shuffle(v.begin(), v.end(), std::mt19937(4));
  std::atomic<int> left{300'000};
  EXPECT_THROW(runtime.run([&](context c) {
    parallel_sort(c, v, [&](int a, int b) {
      if (--left <= 0) throw test_error(1);
      return a < b;
    });
  }),
               test_error);
  std::sort(v.begin(), v.end());
  for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i));
}

TEST_P(sort_test, is_cancelled) {
  std::vector<int> v(200'000);
  std::mt19937 random(5);
  for (int& x : v) x = static_cast<int>(random() >> 1);
  EXPECT_FALSE(runtime.run([&](context c) {
    return sukima::cancellable(c, [&](context below, const sukima::canceller& cancel) {
      std::atomic<int> calls{0};
      for (;;) {
        parallel_stable_sort(below, v, [&](int a, int b) {
          if (++calls == 100'000) cancel.cancel();
          return a < b;
        });
        sukima::fork2(below, [] {}, [] {});
      }
    });
  }));
}

TEST_P(sort_test, may_fork_in_the_comparison) {
  std::vector<int> v = shapes_of(support::sanitized ? 800 : 3000)[0].second;
  runtime.run([&] {
    parallel_sort(v, [](int a, int b) {
      const auto [x, y] = sukima::fork2([=] { return a; }, [=] { return b; });
      return x < y;
    });
  });
  EXPECT_TRUE(std::ranges::is_sorted(v));
}

TEST(sort, keeps_the_order_without_memory_for_a_buffer) {
  for (const auto& [name, input] : shapes_of(3000)) {
    std::vector<card> cards;
    for (const int x : input) cards.push_back({x / 3, static_cast<int>(cards.size())});
    std::vector<card> expected = cards;
    std::ranges::sort(expected, {}, [](const card& x) { return std::pair(x.value, x.place); });
    sukima::detail::sort_in_place(cards.begin(), cards.end(),
                                  [](const card& a, const card& b) { return a.value < b.value; });
    EXPECT_TRUE(cards == expected) << name;
  }
}

TEST(sort, partitions_with_two_workers) {
  sukima::runtime two(support::with_workers(2));
  std::vector<int> v(1 << 18);
  std::mt19937 random(6);
  for (int& x : v) x = static_cast<int>(random() >> 1);
  std::vector<int> w = v;
  const auto below = [](int x) { return x < 1 << 29; };
  two.run([&](context c) {
    sukima::detail::shared_partition<std::vector<int>::iterator, decltype(below)> whole(v.begin(), v.end(),
                                                                                        below);
    const auto cut = whole.run(c);
    EXPECT_TRUE(std::all_of(v.begin(), cut, below));
    EXPECT_TRUE(std::none_of(cut, v.end(), below));
  });
  std::ranges::sort(v);
  std::ranges::sort(w);
  EXPECT_TRUE(v == w);
}

}  // namespace
