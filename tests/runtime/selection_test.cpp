// SPDX-License-Identifier: Apache-2.0
// parallel_nth_element against the sorted range: inputs of many shapes, places, element types, exceptions,
// and the number of comparisons.
#include "rows.hpp"
#include "shapes.hpp"
#include "support.hpp"

#include <sukima/sort.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using shapes::shapes_of;
using sukima::context;
using sukima::parallel_nth_element;
using support::test_error;

class selection_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, selection_test, support::worker_counts(), support::name_of_count);

/// The places that a selection of n elements is tried with.
std::vector<std::ptrdiff_t> places_of(std::size_t n) {
  const auto last = static_cast<std::ptrdiff_t>(n);
  std::vector<std::ptrdiff_t> places{0, 1, last / 3, last / 2, last - last / 7, last - 1, last};
  std::erase_if(places, [last](std::ptrdiff_t place) { return place < 0 || place > last; });
  return places;
}

template <class Range, class Less> void expect_selected(const Range& v, std::ptrdiff_t place,
                                                        const Less& less) {
  const auto nth = v.begin() + place;
  if (nth == v.end()) return;
  for (auto i = v.begin(); i != nth; ++i)
    ASSERT_FALSE(less(*nth, *i)) << place << ", before it " << i - v.begin();
  for (auto i = nth; i != v.end(); ++i)
    ASSERT_FALSE(less(*i, *nth)) << place << ", after it " << i - v.begin();
}

TEST_P(selection_test, puts_the_element_into_its_place) {
  for (const std::size_t n :
       std::initializer_list<std::size_t>{0, 1, 2, 3, 24, 25, 33, 129, 600, 601, 5000, 300'000}) {
    if (support::sanitized && n > 5000) continue;
    for (const auto& [name, input] : shapes_of(n)) {
      std::vector<int> expected = input;
      std::sort(expected.begin(), expected.end());
      for (const std::ptrdiff_t place : places_of(n)) {
        SCOPED_TRACE(std::to_string(n) + " " + name);
        std::vector<int> v = input;
        runtime.run([&](context c) { parallel_nth_element(c, v, v.begin() + place); });
        expect_selected(v, place, std::less{});
        v = input;
        runtime.run(
            [&] { parallel_nth_element(v.begin(), v.begin() + place, v.end(), std::ranges::greater{}); });
        expect_selected(v, place, std::greater{});
        std::sort(v.begin(), v.end());
        ASSERT_EQ(v, expected);
        if (n > 5000 && place > 1) break;
      }
    }
  }
}

TEST_P(selection_test, takes_elements_that_cannot_be_copied_projections_and_other_containers) {
  std::deque<std::unique_ptr<int>> v;
  std::mt19937 random(1);
  for (int i = 0; i < 30'000; ++i) v.push_back(std::make_unique<int>(static_cast<int>(random() % 5000)));
  const auto value = [](const std::unique_ptr<int>& p) { return *p; };
  runtime.run([&](context c) { parallel_nth_element(c, v.begin(), v.begin() + 7000, v.end(), {}, value); });
  expect_selected(v, 7000, [&](const auto& a, const auto& b) { return value(a) < value(b); });
  runtime.run([&] { parallel_nth_element(v, v.begin() + 29'999, std::ranges::greater{}, value); });
  expect_selected(v, 29'999, [&](const auto& a, const auto& b) { return value(a) > value(b); });
}

TEST_P(selection_test, takes_comparators_of_references_to_long_elements) {
  struct named {
    int number;
    std::string name;
  };
  std::vector<named> v;
  for (int i = 0; i < 20'000; ++i) v.push_back({i * 7919 % 20'011, std::to_string(i)});
  runtime.run([&](context c) {
    for (const std::ptrdiff_t place : {9000, 9010, 20})
      parallel_nth_element(c, v, v.begin() + place, [](named& a, named& b) { return a.number < b.number; });
  });
  expect_selected(v, 20, [](const named& a, const named& b) { return a.number < b.number; });
  for (const named& x : v) ASSERT_EQ(x.number, std::stoi(x.name) * 7919 % 20'011);
}

/// A permutation of the rows moves both columns.
TEST_P(selection_test, takes_iterators_with_proxies) {
  constexpr int n = 30'000;
  std::vector<int> first;
  std::vector<long> numbers(n);
  for (int i = 0; i < n; ++i) first.push_back(i * 7919 % 20'011 / 4);
  std::iota(numbers.begin(), numbers.end(), 0L);
  const std::vector<int> before = first;
  const rows::row_iterator<long> begin{first.data(), numbers.data()};
  const auto less = [](rows::seen_row<long> a, rows::seen_row<long> b) { return a.first < b.first; };
  runtime.run([&](context c) { parallel_nth_element(c, begin, begin + 10'000, begin + n, less); });
  expect_selected(first, 10'000, std::less{});
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(first[i], before[static_cast<std::size_t>(numbers[i])]);
}

TEST_P(selection_test, lets_exceptions_pass_and_loses_no_element) {
  for (const int calls : {1, 10, 1000, 200'000}) {
    std::vector<int> v(200'000);
    std::iota(v.begin(), v.end(), 0);
    std::shuffle(v.begin(), v.end(), std::mt19937(4));
    std::atomic<int> left{calls};
    EXPECT_THROW(runtime.run([&](context c) {
      parallel_nth_element(c, v, v.begin() + 100'000, [&](int a, int b) {
        if (--left <= 0) throw test_error(calls);
        return a < b;
      });
    }),
                 test_error);
    std::sort(v.begin(), v.end());
    for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i));
  }
}

/// Selects with one worker. \returns the number of comparisons for each element
double comparisons(std::vector<int> v, std::ptrdiff_t place) {
  sukima::runtime runtime{sukima::settings{.workers = 1}};
  std::size_t calls = 0;
  runtime.run([&](context c) {
    parallel_nth_element(c, v, v.begin() + place, [&](int a, int b) {
      ++calls;
      return a < b;
    });
  });
  return static_cast<double>(calls) / static_cast<double>(v.size());
}

TEST(selection, needs_few_comparisons) {
  const std::vector<int> random = shapes_of(200'000)[0].second;
  EXPECT_LT(comparisons(random, 100'000), 1.75);  // about 3 by medians of nine
  EXPECT_LT(comparisons(random, 20'000), 1.4);
  EXPECT_LT(comparisons(random, 0), 1.25);
  EXPECT_LT(comparisons(random, 199'999), 1.25);
}

TEST(selection, needs_few_comparisons_for_each_shape) {
  for (const auto& [name, input] : shapes_of(100'000))
    for (const std::ptrdiff_t place : {0, 40'000, 50'000, 99'999})
      EXPECT_LT(comparisons(input, place), 4) << name << ", place " << place;
}

}  // namespace
