// SPDX-License-Identifier: Apache-2.0
// parallel_for and parallel_reduce: every kind of index, order of merging, both forms, hints.
#include "support.hpp"

#include <sukima/detail/strip_length.hpp>

#include <array>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

namespace {

using sukima::context;
using sukima::parallel_for;
using sukima::parallel_reduce;
using support::counted;

class loop_test : public support::runtimes {
 protected:
  /// Every index of [first, last) comes exactly once, in both forms of body.
  template <class A, class B> void expect_each_once(A first, B last, std::size_t count) {
    using index = std::common_type_t<A, B>;
    const auto place = [first](index i) {
      return static_cast<std::size_t>(static_cast<std::uint64_t>(i) -
                                      static_cast<std::uint64_t>(static_cast<index>(first)));
    };
    std::vector<std::atomic<int>> seen(count);
    runtime.run([&](context c) {
      parallel_for(c, first, last, [&](index i) { seen.at(place(i)) += 1; });
      parallel_for(c, first, last, [&](context, index i) { seen.at(place(i)) += 1; });
    });
    runtime.run([&] { parallel_for(first, last, [&](index i) { seen.at(place(i)) += 1; }); });
    for (const auto& n : seen) ASSERT_EQ(n, 3);
  }
};
INSTANTIATE_TEST_SUITE_P(workers, loop_test, support::worker_counts(), support::name_of_count);

TEST_P(loop_test, visits_each_integer_once) {
  expect_each_once(0, 0, 0);
  expect_each_once(0, 1, 1);
  expect_each_once(5, 2, 0);
  expect_each_once(0, 100'000, 100'000);
  expect_each_once(-1000, 1000, 2000);
  expect_each_once(std::uint8_t{0}, std::uint8_t{255}, 255);
  expect_each_once(std::int8_t{-128}, std::int8_t{127}, 255);
  expect_each_once(std::int16_t{-32768}, std::int16_t{32767}, 65535);
  expect_each_once('a', 'z', 25);
}

TEST_P(loop_test, gives_bodies_a_copy_of_its_variable) {
  std::atomic<long> calls{0};
  std::atomic<long> sum{0};
  runtime.run([&] {
    sukima::parallel_for(0, 1000, [&](auto&& i) {
      ++calls;
      sum += i;
      i *= 2;
    });
  });
  EXPECT_EQ(calls, 1000);
  EXPECT_EQ(sum, 499'500);
}

TEST_P(loop_test, visits_the_ends_of_the_widest_integers) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  constexpr auto widest = std::numeric_limits<std::uint64_t>::max();
  expect_each_once(lowest, lowest + 1000, 1000);
  expect_each_once(highest - 1000, highest, 1000);
  expect_each_once(widest - 1000, widest, 1000);
  expect_each_once(std::numeric_limits<int>::min(), std::numeric_limits<int>::min() + 77, 77);
  expect_each_once(std::numeric_limits<int>::max() - 77, std::numeric_limits<int>::max(), 77);
}

TEST_P(loop_test, accepts_bounds_of_two_types) {
  const std::vector<int> v(1000, 1);
  expect_each_once(0u, v.size(), 1000);
  expect_each_once(-1000L, 1000u, 2000);
  expect_each_once(short{10}, 20L, 10);
}

TEST_P(loop_test, refuses_loops_whose_length_does_not_fit_a_signed_word) {
  const auto nothing = [](auto) { FAIL(); };
  runtime.run([&](context c) {
    EXPECT_THROW(parallel_for(c, std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max(), nothing),
                 std::length_error);
    EXPECT_THROW(parallel_for(c, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), nothing),
                 std::length_error);
    const auto wide = std::views::iota(std::uint64_t{0}, std::uint64_t{1} << 63);
    EXPECT_THROW(parallel_for(c, wide.begin(), wide.end(), nothing), std::length_error);
  });
}

// The middle of all of `int`: the number of an iteration is no int there.
static_assert(sukima::detail::sum_of(std::numeric_limits<int>::min(), 4'294'967'294) ==
              std::numeric_limits<int>::max() - 1);
static_assert(sukima::detail::sum_of(std::numeric_limits<short>::min(), 65'534) ==
              std::numeric_limits<short>::max() - 1);
static_assert(sukima::detail::sum_of(std::int64_t{-3}, 5) == 2);
static_assert(sukima::detail::sum_of(~std::uint64_t{0} - 7, 7) == ~std::uint64_t{0});

TEST_P(loop_test, takes_iterators_and_ranges) {
  std::vector<int> v(5000, 1);
  std::deque<int> d(5000, 1);
  std::array<int, 7> a{};
  runtime.run([&](context c) {
    parallel_for(c, v.begin(), v.end(), [](int& x) { x += 1; });
    parallel_for(c, d.begin() + 10, d.end() - 10, [](context, int& x) { x += 1; });
    parallel_for(c, v, [](int& x) { x *= 3; });
    parallel_for(c, a, [](int& x) { x = 9; });
    parallel_for(c, std::views::iota(0, 5000), [&](int i) { v[static_cast<std::size_t>(i)] -= i; });
    parallel_for(c, std::vector<int>{}, [](int) { FAIL(); });
  });
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], 6 - i);
  EXPECT_EQ(std::accumulate(d.begin(), d.end(), 0), 10'000 - 20);
  EXPECT_EQ(a, (std::array<int, 7>{9, 9, 9, 9, 9, 9, 9}));
  runtime.run([&] {
    parallel_for(v, [](int& x) { x = 1; });
    parallel_for(v.begin(), v.end(), [](int& x) { x += 1; });
  });
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 10'000);
}

TEST_P(loop_test, gives_values_of_proxy_references) {
  std::vector<bool> bits(64 * 64, false);
  const int ones = runtime.run([&](context c) {
    return parallel_reduce(c, bits, 0, [](bool bit) { return bit ? 1 : 0; }, std::plus{});
  });
  EXPECT_EQ(ones, 0);
}

/// Callables that cannot be copied. g++ 12 nevertheless takes them for trivially copyable.
struct counting_body {
  std::atomic<int> calls{0};
  counting_body() = default;
  counting_body(const counting_body&) = delete;
  void operator()(int) { ++calls; }
  void operator()(auto, long) { ++calls; }
};
struct uncopied_plus {
  uncopied_plus() = default;
  uncopied_plus(const uncopied_plus&) = delete;
  int operator()(int a, int b) const { return a + b; }
};
TEST_P(loop_test, copies_no_body_and_no_combine_that_cannot_be_copied) {
  counting_body count;
  const uncopied_plus add;
  runtime.run([&](context c) {
    parallel_for(c, 0, 1000, count);
    parallel_for(c, 0L, 1000L, count);
    EXPECT_EQ(parallel_reduce(c, 0, 1000, 0, [](int) { return 1; }, add), 1000);
  });
  EXPECT_EQ(count.calls, 2000);
}

TEST_P(loop_test, gives_bodies_without_a_context_rvalues_as_rvalues) {
  std::atomic<long> sum{0};
  std::vector<std::string> texts(1000, std::string(100, 'x'));
  const auto moved = [](std::string& s) -> std::string&& { return std::move(s); };
  runtime.run([&] {
    parallel_for(
        std::views::iota(0, 1000) | std::views::transform([](int i) { return std::make_unique<int>(i); }),
        [&](std::unique_ptr<int> p) { sum += *p; });
    parallel_for(texts | std::views::transform(moved), [&](std::string s) { sum += std::ssize(s); });
  });
  EXPECT_EQ(sum, 1000 * 999 / 2 + 1000 * 100);
  for (const std::string& s : texts) ASSERT_TRUE(s.empty()) << "the body got a copy";
}

TEST_P(loop_test, sums) {
  const auto triangle = [](std::int64_t n) { return n * (n - 1) / 2; };
  runtime.run([&](context c) {
    for (const int n : {0, 1, 2, 3, 10, 1000, 100'000}) {
      EXPECT_EQ(parallel_reduce(c, 0, n, std::int64_t{0}, [](int i) { return i; }, std::plus{}), triangle(n));
      EXPECT_EQ(parallel_reduce(
                    c, 0, n, std::int64_t{5}, [](context, int i) { return i; }, std::plus{}),
                triangle(n) + 5);
    }
  });
  EXPECT_EQ(runtime.run([] {
    return parallel_reduce(0, 1000, 0.5, [](int i) { return static_cast<double>(i); }, std::plus{});
  }),
            499'500.5);
}

/// Concatenation is associative and not commutative: the order of the result shows the order of merging.
std::string letter(int i) { return std::string(1, static_cast<char>('a' + i % 26)); }

TEST_P(loop_test, merges_in_the_order_of_the_iterations) {
  std::string expected = ">";
  for (int i = 0; i < 5000; ++i) expected += letter(i);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(runtime.run([](context c) {
      return parallel_reduce(
          c, 0, 5000, std::string(">"),
          [](context below, int i) {
            support::fib(below, i % 7);
            return letter(i);
          },
          std::plus{});
    }),
              expected);
    EXPECT_EQ(runtime.run([] { return parallel_reduce(0, 5000, std::string(">"), letter, std::plus{}); }),
              expected);
  }
}

/// A text that is combined by a member function.
struct text {
  std::string letters;
  text plus(const text& behind) const { return {letters + behind.letters}; }
};
std::string joined(const std::string& a, const std::string& b) { return a + b; }

TEST_P(loop_test, combines_by_functions_of_all_kinds) {
  std::string expected = "<";
  for (int i = 0; i < 300; ++i) expected += std::to_string(i) + " ";
  const auto word = [](int i) { return std::to_string(i) + " "; };
  const auto word_in_context = [&](context, int i) { return word(i); };
  const auto word_in_any = [&](auto, int i) { return word(i); };
  std::vector<int> v(300);
  std::iota(v.begin(), v.end(), 0);
  const auto expect_words = [&](auto&& combine) {
    const std::string begin = "<";
    runtime.run([&](context c) {
      EXPECT_EQ(parallel_reduce(c, 0, 300, begin, word, combine), expected);
      EXPECT_EQ(parallel_reduce(c, 0, 300, begin, word_in_context, combine), expected);
      EXPECT_EQ(parallel_reduce(c, 0, 300, begin, word_in_any, combine), expected);
      EXPECT_EQ(parallel_reduce(c, v, begin, word, combine), expected);
    });
    runtime.run([&] {
      EXPECT_EQ(parallel_reduce(0, 300, begin, word, combine), expected);
      EXPECT_EQ(parallel_reduce(v, begin, word, combine), expected);
    });
    EXPECT_EQ(parallel_reduce(v, begin, word, combine), expected) << "outside of a runtime";
  };
  expect_words(joined);
  expect_words(&joined);
  expect_words(std::plus<>{});
  expect_words([](const std::string& a, const std::string& b) { return a + b; });
  expect_words(std::function<std::string(const std::string&, const std::string&)>(joined));
  const auto letters = [&](int i) { return text{word(i)}; };
  runtime.run([&](context c) {
    EXPECT_EQ(parallel_reduce(c, 0, 300, text{"<"}, letters, &text::plus).letters, expected);
    EXPECT_EQ(parallel_reduce(c, v, text{"<"}, letters, &text::plus).letters, expected);
  });
  EXPECT_EQ(runtime.run([&] { return parallel_reduce(v, text{"<"}, letters, &text::plus); }).letters,
            expected);
}

TEST_P(loop_test, reduces_types_without_default_or_copy) {
  struct sum {
    explicit sum(int v) : value(std::make_unique<int>(v)) {}
    std::unique_ptr<int> value;
  };
  const sum total = runtime.run([](context c) {
    return parallel_reduce(
        c, 0, 3000, sum(7), [](context, int i) { return sum(i); },
        [](sum a, sum b) {
          *a.value += *b.value;
          return a;
        });
  });
  EXPECT_EQ(*total.value, 7 + 3000 * 2999 / 2);
}

TEST_P(loop_test, destroys_every_partial_result) {
  counted::reset();
  runtime.run([](context c) {
    const counted all = parallel_reduce(
        c, 0, 20'000, counted(0), [](context, int i) { return counted(i % 3); },
        [](counted a, counted b) { return counted(a.value() + b.value()); });
    EXPECT_EQ(all.value(), 19'999);
  });
  EXPECT_EQ(counted::alive(), 0);
  EXPECT_EQ(counted::errors(), 0);
}

TEST_P(loop_test, nests) {
  constexpr int n = 60;
  std::vector<std::atomic<int>> cells(n * n * n);
  runtime.run([&](context c) {
    parallel_for(c, 0, n, [&](context c1, int x) {
      parallel_for(c1, 0, n, [&, x](int y) {
        parallel_for(0, n, [&, x, y](int z) { cells[static_cast<std::size_t>((x * n + y) * n + z)] += 1; });
      });
    });
  });
  for (const auto& cell : cells) ASSERT_EQ(cell, 1);
}

TEST_P(loop_test, keeps_to_the_grain) {
  for (const int grain : {-5, 0, 1, 3, 64, 1 << 20}) {
    std::atomic<std::int64_t> sum{0};
    runtime.run(
        [&](context c) { parallel_for(c, 0, 10'000, [&](int i) { sum += i; }, sukima::grain(grain)); });
    EXPECT_EQ(sum, 49'995'000) << "grain " << grain;
  }
}

TEST(loop, runs_in_order_with_one_worker) {
  sukima::runtime one(support::with_workers(1));
  std::vector<int> order;
  one.run([&](context c) {
    parallel_for(c, 0, 100, [&](int i) { order.push_back(i); });
    parallel_for(c, 100, 200, [&](context, int i) { order.push_back(i); });
  });
  std::vector<int> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(loop, gives_iterations_to_another_worker) {
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> others{0};
    const auto here = std::this_thread::get_id();
    two.run([&](context c) {
      parallel_for(c, 0, 1000, [&](context below, int i) {
        if (std::this_thread::get_id() != here) ++others;
        if (i == 0) {
          EXPECT_TRUE(support::poll_until(below, [&] { return others != 0; }));
        }
      });
    });
    EXPECT_GT(others, 0);
  }
}

TEST(loop, grows_strips_slowly_beside_long_iterations) {
  using sukima::detail::strip_length;
  using sukima::detail::strip_ticks;
  constexpr std::int64_t left = 1000;
  // A long iteration, then some that end at once: the next ones may be as long as the first one.
  strip_length sparse(0);
  sparse.learn_from(1, 10 * strip_ticks);
  EXPECT_EQ(sparse.end(0, left), 1);
  sparse.learn_from(1, 10);
  EXPECT_EQ(sparse.end(0, left), 2);
  sparse.learn_from(2, 20);
  EXPECT_EQ(sparse.end(0, left), 4);
  EXPECT_FALSE(sparse.covers(1));
  sparse.learn_from(4, 20 * strip_ticks);
  EXPECT_EQ(sparse.end(0, left), 1);
  // Short iterations only.
  strip_length dense(0);
  dense.learn_from(1, 100);
  EXPECT_GT(dense.end(0, left), 16);
}

}  // namespace
