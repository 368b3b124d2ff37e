// SPDX-License-Identifier: Apache-2.0
// Each parallel algorithm of the standard library gives the result of the sequential one: for lengths around
// all borders of the backend, for numbers and for strings, on one worker and on several.
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <execution>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

template <class T> T value_of(unsigned number);
template <> int value_of<int>(unsigned number) { return static_cast<int>(number); }
template <> std::string value_of<std::string>(unsigned number) {
  return "a string that does not fit into its object: " + std::to_string(number);
}
[[maybe_unused]] bool is_small(int x) { return x < 20; }
[[maybe_unused]] bool is_small(const std::string& x) { return x.back() < '5'; }

/// Numbers below `different`, in random order.
template <class T> std::vector<T> random_values(std::size_t count, unsigned different, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(value_of<T>(static_cast<unsigned>(random()) % different));
  return result;
}
template <class T> std::vector<T> sorted_values(std::size_t count, unsigned different, unsigned seed = 1) {
  auto result = random_values<T>(count, different, seed);
  std::sort(result.begin(), result.end());
  return result;
}

/// Calls f(values, policy) for lengths: with strings and std::execution::par, or in the other program that is
/// made of this source with numbers and std::execution::par_unseq. Compiling the calls for one of them takes
/// g++ twenty seconds.
template <class F> void with_all(const F& f) {
  for (const std::size_t n : {0, 1, 2, 3, 7, 8, 9, 100, 499, 500, 501, 2049, 5000, 20'000}) {
    SCOPED_TRACE(n);
#ifdef SUKIMA_TEST_PAR_UNSEQ
    f(random_values<int>(n, 100), std::execution::par_unseq);
#else
    f(random_values<std::string>(n, 100), std::execution::par);
#endif
  }
}

/// Calls f in a region of a runtime with a number of workers.
class algorithms : public support::runtimes {
 protected:
  template <class F> void check(const F& f) {
    runtime.run([&] { with_all(f); });
  }
};
INSTANTIATE_TEST_SUITE_P(workers, algorithms, support::worker_counts(), support::name_of_count);

TEST_P(algorithms, that_search) {
  check([](const auto& x, const auto& policy) {
    const auto small = [](const auto& a) { return is_small(a); };
    const auto begin = x.begin();
    const auto end = x.end();
    EXPECT_EQ(std::any_of(policy, begin, end, small), std::any_of(begin, end, small));
    EXPECT_EQ(std::all_of(policy, begin, end, small), std::all_of(begin, end, small));
    EXPECT_EQ(std::none_of(policy, begin, end, small), std::none_of(begin, end, small));
    EXPECT_EQ(std::count_if(policy, begin, end, small), std::count_if(begin, end, small));
    EXPECT_EQ(std::find_if(policy, begin, end, small), std::find_if(begin, end, small));
    EXPECT_EQ(std::find_if_not(policy, begin, end, small), std::find_if_not(begin, end, small));
    EXPECT_EQ(std::adjacent_find(policy, begin, end), std::adjacent_find(begin, end));
    EXPECT_EQ(std::min_element(policy, begin, end), std::min_element(begin, end));
    EXPECT_EQ(std::max_element(policy, begin, end), std::max_element(begin, end));
    EXPECT_EQ(std::minmax_element(policy, begin, end), std::minmax_element(begin, end));
    EXPECT_EQ(std::is_sorted_until(policy, begin, end), std::is_sorted_until(begin, end));
    EXPECT_EQ(std::is_heap_until(policy, begin, end), std::is_heap_until(begin, end));
    EXPECT_EQ(std::is_partitioned(policy, begin, end, small), std::is_partitioned(begin, end, small));
    if (x.empty()) return;
    EXPECT_EQ(std::count(policy, begin, end, x.back()), std::count(begin, end, x.back()));
    EXPECT_EQ(std::find(policy, begin, end, x.back()), std::find(begin, end, x.back()));
    const std::vector needle(end - std::min<std::ptrdiff_t>(3, end - begin), end);
    EXPECT_EQ(std::search(policy, begin, end, needle.begin(), needle.end()),
              std::search(begin, end, needle.begin(), needle.end()));
    EXPECT_EQ(std::find_end(policy, begin, end, needle.begin(), needle.end()),
              std::find_end(begin, end, needle.begin(), needle.end()));
    // par_unseq finds the first of the needles, wherever that is, with every backend (libstdc++ 12).
    EXPECT_EQ(std::find_first_of(std::execution::par, begin, end, needle.begin(), needle.end()),
              std::find_first_of(begin, end, needle.begin(), needle.end()));
    EXPECT_EQ(std::search_n(policy, begin, end, 2, x.back()), std::search_n(begin, end, 2, x.back()));
  });
}

TEST_P(algorithms, that_compare) {
  check([](const auto& x, const auto& policy) {
    auto y = x;
    EXPECT_TRUE(std::equal(policy, x.begin(), x.end(), y.begin(), y.end()));
    if (x.empty()) return;
    y.back() = value_of<typename std::remove_cvref_t<decltype(x)>::value_type>(101);
    EXPECT_FALSE(std::equal(policy, x.begin(), x.end(), y.begin(), y.end()));
    EXPECT_EQ(std::mismatch(policy, x.begin(), x.end(), y.begin()),
              std::mismatch(x.begin(), x.end(), y.begin()));
    EXPECT_EQ(std::lexicographical_compare(policy, x.begin(), x.end(), y.begin(), y.end()),
              std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end()));
  });
}

/// Applies both versions of a change to copies and compares all that they leave.
template <class Values, class Parallel, class Sequential>
void expect_same(const Values& x, const Parallel& parallel, const Sequential& sequential) {
  Values by_parallel(x);
  Values by_sequential(x);
  by_parallel.resize(2 * x.size());
  by_sequential.resize(2 * x.size());
  const auto n = static_cast<std::ptrdiff_t>(x.size());
  const auto end = parallel(by_parallel.begin(), by_parallel.begin() + n) - by_parallel.begin();
  EXPECT_EQ(end, sequential(by_sequential.begin(), by_sequential.begin() + n) - by_sequential.begin());
  by_parallel.resize(static_cast<std::size_t>(end));
  by_sequential.resize(static_cast<std::size_t>(end));
  EXPECT_EQ(by_parallel, by_sequential);
}

TEST_P(algorithms, that_copy) {
  check([](const auto& x, const auto& policy) {
    const auto small = [](const auto& a) { return is_small(a); };
    const auto twice = [](const auto& a) { return a + a; };
    expect_same(
        x, [&](auto a, auto b) { return std::copy(policy, a, b, b); },
        [](auto a, auto b) { return std::copy(a, b, b); });
    expect_same(
        x, [&](auto a, auto b) { return std::copy_if(policy, a, b, b, small); },
        [&](auto a, auto b) { return std::copy_if(a, b, b, small); });
    expect_same(
        x, [&](auto a, auto b) { return std::copy_n(policy, a, b - a, b); },
        [](auto a, auto b) { return std::copy_n(a, b - a, b); });
    expect_same(
        x, [&](auto a, auto b) { return std::transform(policy, a, b, b, twice); },
        [&](auto a, auto b) { return std::transform(a, b, b, twice); });
    expect_same(
        x, [&](auto a, auto b) { return std::transform(policy, a, b, a, b, std::plus<>()); },
        [&](auto a, auto b) { return std::transform(a, b, a, b, std::plus<>()); });
    expect_same(
        x, [&](auto a, auto b) { return std::remove_copy_if(policy, a, b, b, small); },
        [&](auto a, auto b) { return std::remove_copy_if(a, b, b, small); });
    expect_same(
        x, [&](auto a, auto b) { return std::replace_copy_if(policy, a, b, b, small, *a); },
        [&](auto a, auto b) { return std::replace_copy_if(a, b, b, small, *a); });
    expect_same(
        x, [&](auto a, auto b) { return std::reverse_copy(policy, a, b, b); },
        [](auto a, auto b) { return std::reverse_copy(a, b, b); });
    expect_same(
        x, [&](auto a, auto b) { return std::rotate_copy(policy, a, a + (b - a) / 3, b, b); },
        [](auto a, auto b) { return std::rotate_copy(a, a + (b - a) / 3, b, b); });
    expect_same(
        x, [&](auto a, auto b) { return std::unique_copy(policy, a, b, b); },
        [](auto a, auto b) { return std::unique_copy(a, b, b); });
    expect_same(
        x, [&](auto a, auto b) { return std::partial_sort_copy(policy, a, b, b, b + (b - a) / 5); },
        [](auto a, auto b) { return std::partial_sort_copy(a, b, b, b + (b - a) / 5); });
    auto yes = x;
    auto no = x;
    const auto ends = std::partition_copy(policy, x.begin(), x.end(), yes.begin(), no.begin(), small);
    EXPECT_EQ(ends.first - yes.begin(), std::count_if(x.begin(), x.end(), small));
    EXPECT_TRUE(std::all_of(yes.begin(), ends.first, small));
    EXPECT_TRUE(std::none_of(no.begin(), ends.second, small));
  });
}

TEST_P(algorithms, that_change_a_range) {
  check([](const auto& x, const auto& policy) {
    using value = typename std::remove_cvref_t<decltype(x)>::value_type;
    const auto small = [](const auto& a) { return is_small(a); };
    const auto change = [&](const auto& parallel, const auto& sequential) {
      expect_same(
          x,
          [&](auto a, auto b) {
            parallel(a, b);
            return b;
          },
          [&](auto a, auto b) {
            sequential(a, b);
            return b;
          });
    };
    change([&](auto a, auto b) { std::fill(policy, a, b, value()); },
           [](auto a, auto b) { std::fill(a, b, value()); });
    change([&](auto a, auto b) { std::fill_n(policy, a, (b - a) / 2, value()); },
           [](auto a, auto b) { std::fill_n(a, (b - a) / 2, value()); });
    change([&](auto a, auto b) { std::generate(policy, a, b, [] { return value_of<value>(7); }); },
           [](auto a, auto b) { std::fill(a, b, value_of<value>(7)); });
    change([&](auto a, auto b) { std::for_each(policy, a, b, [](auto& each) { each += each; }); },
           [](auto a, auto b) { std::for_each(a, b, [](auto& each) { each += each; }); });
    change([&](auto a, auto b) { std::for_each_n(policy, a, b - a, [](auto& each) { each += each; }); },
           [](auto a, auto b) { std::for_each(a, b, [](auto& each) { each += each; }); });
    change([&](auto a, auto b) { std::replace_if(policy, a, b, small, value()); },
           [&](auto a, auto b) { std::replace_if(a, b, small, value()); });
    change([&](auto a, auto b) { std::reverse(policy, a, b); }, [](auto a, auto b) { std::reverse(a, b); });
    change([&](auto a, auto b) { std::rotate(policy, a, a + (b - a) / 3, b); },
           [](auto a, auto b) { std::rotate(a, a + (b - a) / 3, b); });
    change([&](auto a, auto b) { std::swap_ranges(policy, a, a + (b - a) / 2, a + (b - a) / 2); },
           [](auto a, auto b) { std::swap_ranges(a, a + (b - a) / 2, a + (b - a) / 2); });
    expect_same(
        x, [&](auto a, auto b) { return std::remove_if(policy, a, b, small); },
        [&](auto a, auto b) { return std::remove_if(a, b, small); });
    expect_same(
        x, [&](auto a, auto b) { return std::unique(policy, a, b); },
        [](auto a, auto b) { return std::unique(a, b); });
    expect_same(
        x,
        [&](auto a, auto b) {
          EXPECT_EQ(std::stable_partition(policy, a, b, small) - a, std::count_if(a, b, small));
          return b;
        },
        [&](auto a, auto b) {
          std::stable_partition(a, b, small);
          return b;
        });
    auto y = x;
    const auto middle = std::partition(policy, y.begin(), y.end(), small);
    EXPECT_TRUE(std::all_of(y.begin(), middle, small));
    EXPECT_TRUE(std::none_of(middle, y.end(), small));
    auto elements = x;
    std::sort(elements.begin(), elements.end());
    std::sort(y.begin(), y.end());
    EXPECT_EQ(y, elements);
  });
}

TEST_P(algorithms, that_sort) {
  check([](const auto& x, const auto& policy) {
    auto sorted = x;
    std::sort(sorted.begin(), sorted.end());
    auto y = x;
    std::sort(policy, y.begin(), y.end());
    EXPECT_EQ(y, sorted);
    for (const std::size_t wanted : {std::size_t{0}, std::size_t{1}, x.size() / 10, x.size() / 2, x.size()}) {
      if (wanted > x.size()) continue;
      const auto middle = static_cast<std::ptrdiff_t>(wanted);
      y = x;
      std::partial_sort(policy, y.begin(), y.begin() + middle, y.end());
      EXPECT_TRUE(std::equal(y.begin(), y.begin() + middle, sorted.begin())) << wanted;
      std::sort(y.begin() + middle, y.end());
      EXPECT_EQ(y, sorted);
      if (wanted == x.size()) continue;
      y = x;
      std::nth_element(policy, y.begin(), y.begin() + middle, y.end());
      EXPECT_EQ(y[wanted], sorted[wanted]);
    }
  });
}

TEST_P(algorithms, that_sort_keep_the_order_of_equal_elements) {
  runtime.run([] {
    for (const std::size_t n : {2, 499, 501, 5000, 50'000}) {
      std::vector<std::pair<int, std::size_t>> x;
      for (const int key : random_values<int>(n, 30)) x.emplace_back(key, x.size());
      const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
      std::stable_sort(std::execution::par, x.begin(), x.end(), by_key);
      EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
    }
  });
}

TEST_P(algorithms, that_merge_keep_the_order_of_equal_elements) {
  runtime.run([] {
    using element = std::pair<int, int>;
    const auto by_key = [](const element& a, const element& b) { return a.first < b.first; };
    std::vector<element> x;
    std::vector<element> y;
    for (const int key : sorted_values<int>(20'000, 50)) x.emplace_back(key, 1);
    for (const int key : sorted_values<int>(10'000, 50, 2)) y.emplace_back(key, 2);
    std::vector<element> merged(x.size() + y.size());
    std::merge(std::execution::par, x.begin(), x.end(), y.begin(), y.end(), merged.begin(), by_key);
    EXPECT_TRUE(std::is_sorted(merged.begin(), merged.end()));
  });
}

TEST_P(algorithms, that_sort_take_what_can_only_be_moved) {
  runtime.run([] {
    std::vector<std::unique_ptr<int>> x;
    for (const int each : random_values<int>(5000, 1000)) x.push_back(std::make_unique<int>(each));
    std::sort(std::execution::par, x.begin(), x.end(), [](const auto& a, const auto& b) { return *a < *b; });
    EXPECT_TRUE(std::is_sorted(x.begin(), x.end(), [](const auto& a, const auto& b) { return *a < *b; }));
  });
}

TEST_P(algorithms, that_merge_and_combine_sorted_ranges) {
  runtime.run([] {
    for (const std::size_t n : {0, 1, 3, 1000, 1999, 2001, 20'000}) {
      SCOPED_TRACE(n);
      const auto a = sorted_values<int>(n, 1000, 1);
      const auto b = sorted_values<int>(n / 3 + 1, 1000, 2);
      const auto check = [&](const auto& algorithm) {
        std::vector<int> by_parallel(a.size() + b.size());
        std::vector<int> by_sequential(a.size() + b.size());
        const auto end = algorithm(std::execution::par, by_parallel.begin());
        EXPECT_EQ(end - by_parallel.begin(),
                  algorithm(std::execution::seq, by_sequential.begin()) - by_sequential.begin());
        EXPECT_EQ(by_parallel, by_sequential);
      };
      const auto first = a.begin();
      const auto last = a.end();
      check([&](const auto& policy, auto out) {
        return std::merge(policy, first, last, b.begin(), b.end(), out);
      });
      check([&](const auto& policy, auto out) {
        return std::merge(policy, b.begin(), b.end(), first, last, out);
      });
      check([&](const auto& policy, auto out) {
        return std::set_union(policy, first, last, b.begin(), b.end(), out);
      });
      check([&](const auto& policy, auto out) {
        return std::set_intersection(policy, first, last, b.begin(), b.end(), out);
      });
      check([&](const auto& policy, auto out) {
        return std::set_difference(policy, first, last, b.begin(), b.end(), out);
      });
      check([&](const auto& policy, auto out) {
        return std::set_symmetric_difference(policy, first, last, b.begin(), b.end(), out);
      });
      EXPECT_EQ(std::includes(std::execution::par, first, last, b.begin(), b.end()),
                std::includes(first, last, b.begin(), b.end()));
      auto both = a;
      both.insert(both.end(), b.begin(), b.end());
      std::inplace_merge(std::execution::par, both.begin(),
                         both.begin() + static_cast<std::ptrdiff_t>(a.size()), both.end());
      EXPECT_TRUE(std::is_sorted(both.begin(), both.end()));
    }
  });
}

/// The operation of strings does not commute, so a wrong order gives a wrong result.
TEST_P(algorithms, that_reduce_keep_the_order) {
  runtime.run([] {
    for (const std::size_t n : {0, 1, 2, 3, 4, 5, 100, 3000}) {
      SCOPED_TRACE(n);
      const auto x = random_values<std::string>(n, 1000);
      const std::string all = std::accumulate(x.begin(), x.end(), std::string("begin "));
      EXPECT_EQ(std::reduce(std::execution::par, x.begin(), x.end(), std::string("begin ")), all);
      EXPECT_EQ(std::transform_reduce(std::execution::par, x.begin(), x.end(), std::string("begin "),
                                      std::plus<>(), [](const std::string& each) { return each; }),
                all);
      std::vector<int> y(n, 3);
      EXPECT_EQ(std::transform_reduce(std::execution::par_unseq, y.begin(), y.end(), y.begin(), 5),
                static_cast<int>(9 * n + 5));
    }
  });
}

/// What is added up need not be convertible to the type of the sum, nor have a neutral element.
struct number {
  int value;
};
struct total {
  explicit total(int start) : value(start) {}
  int value;
};
total operator+(const total& a, const total& b) { return total(a.value + b.value); }
total operator+(const total& a, number b) { return total(a.value + b.value); }
total operator+(number a, const total& b) { return total(a.value + b.value); }
total operator+(number a, number b) { return total(a.value + b.value); }

TEST_P(algorithms, that_reduce_need_only_the_operation) {
  runtime.run([] {
    for (const std::size_t n : {0, 1, 2, 3, 100, 10'000}) {
      const std::vector<number> x(n, number{2});
      EXPECT_EQ(std::reduce(std::execution::par, x.begin(), x.end(), total(1), std::plus<>()).value,
                static_cast<int>(2 * n + 1));
    }
  });
}

TEST_P(algorithms, that_scan) {
  runtime.run([] {
    for (const std::size_t n : {0, 1, 2, 7, 8, 9, 100, 1023, 1025, 20'000}) {
      SCOPED_TRACE(n);
      const auto x = random_values<int>(n, 10);
      std::vector<int> by_parallel(n);
      std::vector<int> by_sequential(n);
      const auto check = [&](const auto& algorithm) {
        algorithm(std::execution::par, by_parallel.begin());
        algorithm(std::execution::seq, by_sequential.begin());
        EXPECT_EQ(by_parallel, by_sequential);
      };
      const auto square = [](int each) { return each * each; };
      check([&](const auto& policy, auto out) { std::inclusive_scan(policy, x.begin(), x.end(), out); });
      check([&](const auto& policy, auto out) { std::exclusive_scan(policy, x.begin(), x.end(), out, 3); });
      check([&](const auto& policy, auto out) {
        std::transform_inclusive_scan(policy, x.begin(), x.end(), out, std::plus<>(), square);
      });
      check([&](const auto& policy, auto out) {
        std::transform_exclusive_scan(policy, x.begin(), x.end(), out, 3, std::plus<>(), square);
      });
      check([&](const auto& policy, auto out) { std::adjacent_difference(policy, x.begin(), x.end(), out); });
    }
    const auto words = random_values<std::string>(300, 10);
    std::vector<std::string> by_parallel(words.size());
    std::vector<std::string> by_sequential(words.size());
    std::inclusive_scan(std::execution::par, words.begin(), words.end(), by_parallel.begin());
    std::inclusive_scan(words.begin(), words.end(), by_sequential.begin());
    EXPECT_EQ(by_parallel, by_sequential);
  });
}

TEST_P(algorithms, that_construct_and_destroy) {
  runtime.run([] {
    for (const std::size_t n : {0, 1, 100, 5000}) {
      const auto x = random_values<std::string>(n, 1000);
      std::allocator<std::string> memory;
      std::string* const room = memory.allocate(n + 1);
      std::uninitialized_copy(std::execution::par, x.begin(), x.end(), room);
      EXPECT_TRUE(std::equal(x.begin(), x.end(), room));
      std::destroy(std::execution::par, room, room + n);
      std::uninitialized_fill_n(std::execution::par, room, n,
                                std::string("filled with the same long string"));
      EXPECT_EQ(std::count(room, room + n, "filled with the same long string"),
                static_cast<std::ptrdiff_t>(n));
      std::destroy_n(std::execution::par, room, n);
      std::uninitialized_value_construct(std::execution::par, room, room + n);
      std::destroy(std::execution::par, room, room + n);
      memory.deallocate(room, n + 1);
    }
  });
}

}  // namespace
