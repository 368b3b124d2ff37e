// SPDX-License-Identifier: Apache-2.0
// parallel_filter, parallel_partition, parallel_remove_if and parallel_unique against the standard
// algorithms: random inputs, element types, exceptions.
#include "support.hpp"

#include <sukima/filter.hpp>

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <numeric>
#include <random>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace {

using sukima::context;
using sukima::parallel_filter;
using sukima::parallel_partition;
using sukima::parallel_remove_if;
using sukima::parallel_unique;
using support::counted;
using support::test_error;

class filter_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, filter_test, support::worker_counts(), support::name_of_count);

/// Lengths around those of blocks and of words of answers, and some for many blocks.
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all{0, 1, 2, 63, 64, 65, 2047, 2048, 2049, 4095, 4096, 4097, 20'000};
  if (!support::sanitized) all.push_back(400'000);
  return all;
}

/// Random numbers below `values`; the fewer, the longer the stretches of equal ones.
std::vector<int> numbers(std::size_t n, unsigned values) {
  std::vector<int> v(n);
  std::mt19937 random(static_cast<unsigned>(n) + values);
  for (int& x : v) x = static_cast<int>(random() % values);
  return v;
}

/// From a part of the elements that is empty over some of them to all.
constexpr std::array bounds{0, 1, 50, 99, 100};
constexpr unsigned many = 100;

TEST_P(filter_test, keeps_what_is_accepted_in_its_order) {
  for (const std::size_t n : lengths())
    for (const int bound : bounds) {
      const std::vector<int> v = numbers(n, many);
      const auto accepted = [bound](int x) { return x < bound; };
      std::vector<int> expected;
      std::ranges::copy_if(v, std::back_inserter(expected), accepted);
      EXPECT_EQ(runtime.run([&](context c) { return parallel_filter(c, v, accepted); }), expected);
      EXPECT_EQ(runtime.run([&] { return parallel_filter(std::span(v), accepted); }), expected);
      std::vector<int> out(expected.size() + 1, -1);
      const auto end = runtime.run(
          [&](context c) { return parallel_filter(c, v.begin(), v.end(), out.begin(), accepted); });
      EXPECT_EQ(static_cast<std::size_t>(end - out.begin()), expected.size());
      EXPECT_EQ(out.back(), -1) << "nothing is written behind the result";
      out.pop_back();
      EXPECT_EQ(out, expected);
    }
}

TEST_P(filter_test, asks_for_each_element_once) {
  for (const std::size_t n : lengths()) {
    std::vector<std::atomic<int>> asked(n);
    const auto even = [&](std::size_t i) {
      ++asked[i];
      return i % 2 == 0;
    };
    const auto chosen =
        runtime.run([&](context c) { return parallel_filter(c, std::views::iota(std::size_t{0}, n), even); });
    EXPECT_EQ(chosen.size(), (n + 1) / 2);
    for (const auto& times : asked) ASSERT_EQ(times, 1);
  }
}

TEST_P(filter_test, takes_other_containers_and_elements) {
  std::deque<std::string> words;
  for (const int x : numbers(10'000, 1000)) words.push_back(std::to_string(x));
  const std::vector<bool> bits = runtime.run(
      [&](context c) { return parallel_filter(c, std::vector<bool>(9000, true), [](bool b) { return b; }); });
  EXPECT_EQ(bits, std::vector<bool>(9000, true));
  const auto is_long = [](std::size_t length) { return length == 3; };
  std::vector<std::string> expected;
  std::ranges::copy_if(words, std::back_inserter(expected), is_long, &std::string::size);
  EXPECT_EQ(runtime.run([&](context c) { return parallel_filter(c, words, is_long, &std::string::size); }),
            expected);
}

/// Cannot be made without a number.
struct numbered {
  int number;
  explicit numbered(int n) : number(n) {}
  friend bool operator==(const numbered&, const numbered&) = default;
};

TEST_P(filter_test, needs_no_default_constructor) {
  std::vector<numbered> v;
  for (const int x : numbers(10'000, many)) v.emplace_back(x);
  const auto small = [](int x) { return x < 30; };
  std::vector<numbered> expected;
  std::ranges::copy_if(v, std::back_inserter(expected), small, &numbered::number);
  EXPECT_EQ(runtime.run([&](context c) { return parallel_filter(c, v, small, &numbered::number); }),
            expected);
}

std::vector<std::unique_ptr<int>> pointers(std::size_t n) {
  std::vector<std::unique_ptr<int>> v;
  for (const int x : numbers(n, many)) v.push_back(std::make_unique<int>(x));
  return v;
}
const auto value = [](const std::unique_ptr<int>& p) { return *p; };
std::vector<int> values_of(const auto& v) {
  std::vector<int> all;
  for (const auto& p : v) all.push_back(*p);
  return all;
}

TEST_P(filter_test, moves_elements_that_cannot_be_copied) {
  const auto small = [](int x) { return x < 30; };
  for (const std::size_t n : {std::size_t{100}, std::size_t{30'000}}) {
    std::vector<int> expected;
    std::ranges::copy_if(values_of(pointers(n)), std::back_inserter(expected), small);
    EXPECT_EQ(
        values_of(runtime.run([&](context c) { return parallel_filter(c, pointers(n), small, value); })),
        expected);
    auto v = pointers(n);
    v.erase(runtime.run([&](context c) { return parallel_remove_if(c, v, std::not_fn(small), value); }),
            v.end());
    EXPECT_EQ(values_of(v), expected);
    v = pointers(n);
    const auto middle = runtime.run([&](context c) { return parallel_partition(c, v, small, value); });
    EXPECT_EQ(static_cast<std::size_t>(middle - v.begin()), expected.size());
    EXPECT_TRUE(std::ranges::is_partitioned(v, small, value));
    v = pointers(n);
    std::vector<int> different = values_of(v);
    different.erase(std::unique(different.begin(), different.end()), different.end());
    v.erase(runtime.run([&](context c) { return parallel_unique(c, v, {}, value); }), v.end());
    EXPECT_EQ(values_of(v), different);
  }
}

TEST_P(filter_test, partitions_as_the_standard_algorithm) {
  for (const std::size_t n : lengths())
    for (const int bound : bounds) {
      std::vector<int> v = numbers(n, many);
      std::vector<int> sorted = v;
      std::ranges::sort(sorted);
      const auto accepted = [bound](int x) { return x < bound; };
      const auto count = std::ranges::count_if(v, accepted);
      const auto middle = runtime.run([&](context c) { return parallel_partition(c, v, accepted); });
      EXPECT_EQ(middle - v.begin(), count);
      EXPECT_TRUE(std::ranges::is_partitioned(v, accepted));
      std::ranges::reverse(v);
      EXPECT_EQ(runtime.run([&] { return parallel_partition(v.begin(), v.end(), accepted); }) - v.begin(),
                count);
      EXPECT_TRUE(std::ranges::is_partitioned(v, accepted));
      std::ranges::sort(v);
      EXPECT_EQ(v, sorted);
    }
}

TEST_P(filter_test, removes_as_the_standard_algorithm) {
  for (const std::size_t n : lengths())
    for (const int bound : bounds) {
      const auto unwanted = [bound](int x) { return x < bound; };
      std::vector<int> expected = numbers(n, many);
      expected.erase(std::remove_if(expected.begin(), expected.end(), unwanted), expected.end());
      std::vector<int> v = numbers(n, many);
      v.erase(runtime.run([&](context c) { return parallel_remove_if(c, v, unwanted); }), v.end());
      EXPECT_EQ(v, expected);
      std::vector<std::string> words;
      for (const int x : numbers(n, many)) words.push_back(std::to_string(x));
      words.erase(runtime.run([&] {
        return parallel_remove_if(words.begin(), words.end(),
                                  [&](const std::string& s) { return unwanted(std::stoi(s)); });
      }),
                  words.end());
      ASSERT_EQ(words.size(), expected.size());
      for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], std::to_string(expected[i]));
    }
}

TEST_P(filter_test, finds_neighbours_that_differ) {
  for (const std::size_t n : lengths())
    for (const unsigned values : {1u, 2u, 100u, 100'000u}) {
      std::vector<int> v = numbers(n, values);
      if (values == 100) std::ranges::sort(v);  // stretches over several blocks
      std::vector<int> expected = v;
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      std::vector<std::string> words;
      for (const int x : v) words.push_back(std::to_string(x));
      v.erase(runtime.run([&](context c) { return parallel_unique(c, v); }), v.end());
      EXPECT_EQ(v, expected) << n << " " << values;
      words.erase(runtime.run([&] { return parallel_unique(words); }), words.end());
      ASSERT_EQ(words.size(), expected.size()) << n << " " << values;
      for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], std::to_string(expected[i]));
    }
}

TEST_P(filter_test, compares_each_pair_of_neighbours_once) {
  for (const std::size_t n : lengths()) {
    std::vector<int> v = numbers(n, 3);
    std::atomic<std::size_t> compared{0};
    runtime.run([&](context c) {
      parallel_unique(c, v, [&](int a, int b) {
        ++compared;
        return a == b;
      });
    });
    EXPECT_EQ(compared, n < 2 ? 0 : n - 1);
  }
}

/// Calls f(predicate) with a predicate that throws at one of its calls: no object may be lost or left.
template <class F> void expect_no_leak(int call, F f) {
  counted::reset();
  {
    std::vector<counted> v;
    for (const int x : numbers(20'000, many)) v.emplace_back(x);
    const int before = counted::alive();
    std::atomic<int> left{call};
    const auto odd = [&](const counted& x) {
      if (--left <= 0) throw test_error(call);
      return x.value() % 2 != 0;
    };
    EXPECT_THROW(f(v, odd), test_error);
    EXPECT_EQ(counted::alive(), before);
    EXPECT_EQ(counted::errors(), 0);
  }
  EXPECT_EQ(counted::alive(), 0);
}

TEST_P(filter_test, lets_exceptions_pass) {
  for (const int call : {1, 10, 1000, 10'000, 19'000}) {
    expect_no_leak(call, [&](auto& v, auto odd) {
      runtime.run([&](context c) { return parallel_filter(c, v, odd).size(); });
    });
    expect_no_leak(
        call, [&](auto& v, auto odd) { runtime.run([&](context c) { parallel_partition(c, v, odd); }); });
    expect_no_leak(
        call, [&](auto& v, auto odd) { runtime.run([&](context c) { parallel_remove_if(c, v, odd); }); });
    expect_no_leak(call, [&](auto& v, auto odd) {
      runtime.run([&](context c) {
        parallel_unique(c, v, [&](const counted& a, const counted& b) { return odd(a) == odd(b); });
      });
    });
  }
}

TEST_P(filter_test, loses_no_element_that_is_partitioned) {
  std::vector<int> v(support::sanitized ? 20'000 : 400'000);
  std::iota(v.begin(), v.end(), 0);
  std::shuffle(v.begin(), v.end(), std::mt19937(4));
  std::atomic<int> left{static_cast<int>(v.size()) / 2};
  EXPECT_THROW(runtime.run([&](context c) {
    parallel_partition(c, v, [&](int x) {
      if (--left <= 0) throw test_error(1);
      return x % 2 == 0;
    });
  }),
               test_error);
  std::ranges::sort(v);
  for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i));
}

TEST_P(filter_test, is_cancelled) {
  const std::vector<int> v = numbers(200'000, many);
  EXPECT_FALSE(runtime.run([&](context c) {
    return sukima::cancellable(c, [&](context below, const sukima::canceller& cancel) {
      std::atomic<int> calls{0};
      for (;;) {
        parallel_filter(below, v, [&](int x) {
          if (++calls == 100'000) cancel.cancel();
          return x % 2 == 0;
        });
        sukima::fork2(below, [] {}, [] {});
      }
    });
  }));
}

TEST_P(filter_test, may_fork_in_the_predicate) {
  const std::vector<int> v = numbers(5000, many);
  const auto small = [](int x) {
    const auto [a, b] = sukima::fork2([=] { return x < 50; }, [=] { return x >= 0; });
    return a && b;
  };
  std::vector<int> expected;
  std::ranges::copy_if(v, std::back_inserter(expected), [](int x) { return x < 50; });
  EXPECT_EQ(runtime.run([&] { return parallel_filter(v, small); }), expected);
}

TEST(filter, works_outside_a_runtime) {
  const std::vector<int> v = numbers(10'000, many);
  const auto small = [](int x) { return x < 50; };
  EXPECT_EQ(static_cast<std::ptrdiff_t>(parallel_filter(v, small).size()), std::ranges::count_if(v, small));
}

}  // namespace
