// SPDX-License-Identifier: Apache-2.0
// fork2 and fork: results, captures, both forms, stolen branches.
#include "support.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

namespace {

using sukima::context;
using sukima::fork2;
using support::counted;

class fork_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, fork_test, support::worker_counts(), support::name_of_count);

long fib_without_context(int n) {
  if (n < 2) return n;
  auto [a, b] = fork2([=] { return fib_without_context(n - 1); }, [=] { return fib_without_context(n - 2); });
  return a + b;
}

/// Every level changes the form.
long fib_mixed(int n);
long fib_mixed_with(context c, int n) {
  if (n < 2) return n;
  auto [a, b] = fork2(c, [=] { return fib_mixed(n - 1); }, [=](context) { return fib_mixed(n - 2); });
  return a + b;
}
long fib_mixed(int n) {
  if (n < 2) return n;
  auto [a, b] = fork2([=](context c) { return fib_mixed_with(c, n - 1); }, [=] { return fib_mixed(n - 2); });
  return a + b;
}

TEST_P(fork_test, computes_fibonacci_numbers) {
  EXPECT_EQ(runtime.run([](context c) { return support::fib(c, 22); }), 17711);
}

TEST_P(fork_test, works_without_a_context) {
  EXPECT_EQ(runtime.run([] { return fib_without_context(20); }), 6765);
}

TEST_P(fork_test, mixes_code_with_and_without_a_context) {
  EXPECT_EQ(runtime.run([] { return fib_mixed(12); }), 144);
  EXPECT_EQ(runtime.run([](context c) { return fib_mixed_with(c, 12); }), 144);
}

TEST(fork_on_the_default_runtime, works_from_an_ordinary_thread) {
  auto [a, b] = fork2([] { return 1; }, [] { return std::string("two"); });
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, "two");
  EXPECT_EQ(fib_without_context(15), 610);
}

TEST_P(fork_test, returns_nothing_for_two_functions_that_return_nothing) {
  std::atomic<int> sum{0};
  runtime.run([&](context c) {
    static_assert(std::is_void_v<decltype(fork2(c, [] {}, [] {}))>);
    fork2(c, [&] { sum += 1; }, [&](context) { sum += 2; });
  });
  EXPECT_EQ(sum, 3);
}

TEST_P(fork_test, returns_one_result_beside_nothing) {
  int seen = 0;
  runtime.run([&](context c) {
    auto left = fork2(c, [] { return 4; }, [&] { seen = 1; });
    static_assert(std::is_same_v<decltype(left.second), std::monostate>);
    auto right = fork2(c, [&] { ++seen; }, [] { return 5L; });
    static_assert(std::is_same_v<decltype(right.first), std::monostate>);
    EXPECT_EQ(left.first, 4);
    EXPECT_EQ(right.second, 5);
  });
  EXPECT_EQ(seen, 2);
}

TEST_P(fork_test, moves_results_that_cannot_be_copied) {
  const int sum = runtime.run([](context c) {
    auto [a, b] = fork2(
        c, [] { return std::make_unique<int>(3); }, [] { return std::make_unique<std::vector<int>>(4, 5); });
    return *a + static_cast<int>(b->size()) * b->front();
  });
  EXPECT_EQ(sum, 23);
}

struct without_default {
  explicit without_default(int v) : value(v) {}
  int value;
};

TEST_P(fork_test, needs_no_default_constructor_of_results) {
  const int difference = runtime.run([](context c) {
    auto [a, b] = fork2(c, [] { return without_default(9); }, [] { return without_default(2); });
    return a.value - b.value;
  });
  EXPECT_EQ(difference, 7);
}

TEST_P(fork_test, keeps_the_alignment_of_captures) {
  struct alignas(64) wide {
    std::array<int, 64> values;
  };
  wide w{};
  std::iota(w.values.begin(), w.values.end(), 0);
  const auto misplaced = [](const wide& x) { return reinterpret_cast<std::uintptr_t>(&x) % alignof(wide); };
  for (int i = 0; i < 200; ++i) {
    const auto [a, b] = runtime.run([&](context c) {
      return fork2(
          c, [&misplaced, w] { return misplaced(w) + static_cast<unsigned>(w.values[63]); },
          [&misplaced, w](context below) {
            support::fib(below, 5);
            return misplaced(w) + static_cast<unsigned>(w.values[62]);
          });
    });
    EXPECT_EQ(a, 63u);
    EXPECT_EQ(b, 62u);
  }
}

/// A tree whose forks capture and return counted objects.
counted tree_of_counted(context c, counted value, int depth) {
  if (depth == 0) return value;
  auto [a, b] = fork2(
      c, [value, depth](context below) { return tree_of_counted(below, counted(value.value()), depth - 1); },
      [value, depth](context below) {
        return tree_of_counted(below, counted(value.value() + 1), depth - 1);
      });
  return counted(a.value() + b.value());
}

TEST_P(fork_test, destroys_captures_and_results_exactly_once) {
  counted::reset();
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(runtime.run([](context c) { return tree_of_counted(c, counted(1), 9).value(); }),
              512 + 256 * 9);
  EXPECT_EQ(counted::alive(), 0);
  EXPECT_EQ(counted::errors(), 0);
}

TEST_P(fork_test, copies_no_capture) {
  counted::reset();
  runtime.run([](context c) {
    fork2(c, [] {}, [first = counted(1)] { EXPECT_EQ(first.value(), 1); });
    fork2([] {}, [second = counted(2),
                  only_moved = std::make_unique<int>(1)] { EXPECT_EQ(second.value() + *only_moved, 3); });
  });
  EXPECT_EQ(counted::copies(), 0);
  EXPECT_EQ(counted::alive(), 0);
}

TEST_P(fork_test, runs_the_first_branch_at_once_and_here) {
  const auto here = std::this_thread::get_id();
  runtime.run([&](context c) {
    int order = 0;
    fork2(
        c,
        [&] {
          EXPECT_EQ(std::this_thread::get_id(), here);
          order = 1;
        },
        [] {});
    EXPECT_EQ(order, 1);
  });
}

TEST(fork, runs_in_order_with_one_worker) {
  sukima::runtime one(support::with_workers(1));
  std::vector<int> order;
  one.run([&](context c) {
    sukima::fork(
        c, [&] { order.push_back(1); },
        [&](context below) { fork2(below, [&] { order.push_back(2); }, [&] { order.push_back(3); }); },
        [&] { order.push_back(4); }, [&] { order.push_back(5); });
  });
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4, 5}));
}

TEST(fork, gives_the_second_branch_to_another_worker) {
  sukima::runtime two(support::with_workers(2));
  for (int i = 0; i < 50; ++i) {
    std::atomic<bool> begun{false};
    const auto [first, second] = two.run([&](context c) {
      return fork2(
          c,
          [&](context below) {
            EXPECT_TRUE(support::poll_until(below, [&] { return begun.load(); }));
            return std::this_thread::get_id();
          },
          [&] {
            begun = true;
            return std::this_thread::get_id();
          });
    });
    EXPECT_NE(first, second);
  }
  EXPECT_GE(two.statistics().steals, 50u);
}

TEST(fork, gives_the_outermost_branch_away_first) {
  sukima::runtime two(support::with_workers(2));
  std::atomic<int> stolen{0};
  const auto branch = [&](int number) {
    return [&stolen, number] {
      int none = 0;
      stolen.compare_exchange_strong(none, number);
    };
  };
  two.run([&](context c) {
    fork2(
        c,
        [&](context c1) {
          fork2(
              c1,
              [&](context c2) { EXPECT_TRUE(support::poll_until(c2, [&] { return stolen.load() != 0; })); },
              branch(2));
        },
        branch(1));
  });
  EXPECT_EQ(stolen, 1);
}

TEST_P(fork_test, calls_many_functions) {
  const auto results = runtime.run([](context c) {
    return sukima::fork(
        c, [] { return 1; }, [](context) { return std::string("2"); }, [] {},
        [] { return std::make_unique<int>(4); }, [] { return 5.0; });
  });
  static_assert(std::tuple_size_v<decltype(results)> == 5);
  EXPECT_EQ(std::get<0>(results), 1);
  EXPECT_EQ(std::get<1>(results), "2");
  EXPECT_EQ(std::get<2>(results), std::monostate{});
  EXPECT_EQ(*std::get<3>(results), 4);
  EXPECT_EQ(std::get<4>(results), 5.0);
}

/// A pack of functions may have one.
TEST_P(fork_test, calls_one_function) {
  const auto call_all = [](auto... functions) { return sukima::fork(functions...); };
  const auto with_context = runtime.run([](context c) { return sukima::fork(c, [] { return 1; }); });
  const auto without = runtime.run([&] { return call_all([](context c) { return support::fib(c, 10); }); });
  EXPECT_EQ(with_context, std::tuple(1));
  EXPECT_EQ(without, std::tuple(55L));
  EXPECT_EQ(call_all([] {}), std::tuple(std::monostate{})) << "on an ordinary thread, too";
}

TEST_P(fork_test, calls_many_functions_without_a_context) {
  runtime.run([] {
    auto [a, b, d] =
        sukima::fork([] { return 1; }, [] { return 2; }, [](context c) { return support::fib(c, 10); });
    EXPECT_EQ(a + b + d, 58);
  });
}

int answer() { return 42; }

TEST_P(fork_test, takes_functions_and_named_function_objects) {
  runtime.run([](context c) {
    int calls = 0;
    auto count = [calls]() mutable { return ++calls; };
    const auto constant = [] { return 7; };
    auto [a, b] = fork2(c, count, constant);
    EXPECT_EQ(a + b, 8);
    auto [d, e] = fork2(c, answer, &answer);
    EXPECT_EQ(d + e, 84);
    EXPECT_EQ(calls, 0);
  });
}

TEST_P(fork_test, keeps_large_captures) {
  struct block {
    std::array<std::uint32_t, 2048> words;
  };
  block big{};
  std::iota(big.words.begin(), big.words.end(), 0u);
  std::atomic<int> wrong{0};
  runtime.run([&](context c) {
    for (int i = 0; i < 300; ++i)
      fork2(
          c, [&](context below) { support::fib(below, 8); },
          [&wrong, big](context below) {
            support::fib(below, 3);
            for (std::uint32_t k = 0; k < big.words.size(); ++k)
              if (big.words[k] != k) ++wrong;
          });
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(fork_test, gives_results_that_cannot_be_assigned) {
  struct fixed {
    fixed() = default;
    fixed(fixed&&) = default;
    fixed& operator=(fixed&&) = delete;
    int value;
  };
  const auto make = [](int value) {
    fixed made;
    made.value = value;
    return made;
  };
  runtime.run([&](context c) {
    for (int i = 0; i < 200; ++i) {
      auto [a, b] = fork2(
          c, [&](context below) { return make(static_cast<int>(support::fib(below, 5)) + i); },
          [&] { return make(i); });
      EXPECT_EQ(a.value, 5 + i);
      EXPECT_EQ(b.value, i);
    }
  });
}

/// The objects that branches refer to, and not copies, also where another worker ran the branch.
TEST_P(fork_test, gives_references) {
  struct fixed {
    int value;
    explicit fixed(int v) : value(v) {}
    fixed(const fixed&) = delete;
    fixed& operator=(const fixed&) = delete;
  };
  fixed one(1);
  const fixed two(2);
  runtime.run([&](context c) {
    for (int i = 0; i < 200; ++i) {
      auto [a, b] = fork2(
          c,
          [&](context below) -> fixed& {
            support::fib(below, 5);
            return one;
          },
          [&]() -> const fixed& { return two; });
      static_assert(std::is_same_v<decltype(a), fixed&> && std::is_same_v<decltype(b), const fixed&>);
      ASSERT_EQ(&a, &one);
      ASSERT_EQ(&b, &two);
      auto [word, same] = fork2(c, [] { return std::string("text"); }, [&]() -> fixed& { return one; });
      ASSERT_EQ(word, "text");
      ASSERT_EQ(&same, &one);
      auto [none, third] = fork2(c, [] {}, [&]() -> fixed& { return one; });
      static_assert(std::is_same_v<decltype(none), std::monostate>);
      ASSERT_EQ(&third, &one);
      const auto all = sukima::fork(
          c, [&]() -> fixed& { return one; }, [] { return 5; }, [&]() -> const fixed& { return two; });
      static_assert(std::is_same_v<decltype(all), const std::tuple<fixed&, int, const fixed&>>);
      ASSERT_EQ(&std::get<0>(all), &one);
      ASSERT_EQ(std::get<1>(all), 5);
      ASSERT_EQ(&std::get<2>(all), &two);
    }
  });
  EXPECT_EQ(&runtime.run([&]() -> fixed& { return one; }), &one);
  runtime.run([&] {
    auto [a, b] = fork2([&]() -> fixed& { return one; }, [&]() -> const fixed& { return two; });
    EXPECT_EQ(&a, &one);
    EXPECT_EQ(&b, &two);
  });
  const auto kept = runtime.run([&](context c) {
    return sukima::cancellable(c, [&](context, const sukima::canceller&) -> fixed& { return one; });
  });
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(&kept->get(), &one);
}

TEST(fork, gives_references_of_a_branch_that_was_stolen) {
  sukima::runtime two(support::with_workers(2));
  int target = 0;
  std::atomic<bool> stolen{false};
  two.run([&](context c) {
    auto [a, b] = fork2(
        c, [&](context below) { return support::poll_until(below, [&] { return stolen.load(); }); },
        [&]() -> int& {
          stolen = true;
          return target;
        });
    EXPECT_TRUE(a);
    EXPECT_EQ(&b, &target);
  });
}

TEST_P(fork_test, reduces_to_a_reference) {
  std::vector<std::string> words;
  for (int i = 0; i < 5000; ++i) words.push_back(std::to_string(i * 7919 % 5000));
  const auto longest = [](std::reference_wrapper<const std::string> a,
                          std::reference_wrapper<const std::string> b) {
    return std::pair(b.get().size(), b.get()) > std::pair(a.get().size(), a.get()) ? b : a;
  };
  const std::string& found = runtime.run([&](context c) {
    return sukima::parallel_reduce(
        // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): of an element
        c, words, std::cref(words[0]), [](const std::string& w) -> const std::string& { return w; }, longest);
  });
  EXPECT_EQ(found, "4999");
  EXPECT_GE(&found, words.data());
  EXPECT_LT(&found, words.data() + words.size());
}

/// Its default constructor is trivial, and it cannot be copied.
struct only_moved {
  int n;
  only_moved() = default;
  explicit only_moved(int value) : n(value) {}
  only_moved(only_moved&&) = default;
  only_moved& operator=(only_moved&&) = default;
  only_moved(const only_moved&) = delete;
  only_moved& operator=(const only_moved&) = delete;
};
/// The same, where a copy throws.
struct never_copied {
  int n;
  never_copied() = default;
  explicit never_copied(int value) : n(value) {}
  never_copied(never_copied&&) = default;
  never_copied& operator=(never_copied&&) = default;
  never_copied(const never_copied&) { throw support::test_error(1); }
  never_copied& operator=(const never_copied&) = default;
};

TEST_P(fork_test, moves_first_results_that_cannot_be_copied) {
  runtime.run([](context c) {
    for (int i = 0; i < 100; ++i) {
      const auto [moved, one] = sukima::fork2(
          c, [i](context) { return only_moved(i); }, [](context below) { return support::fib(below, 10); });
      EXPECT_EQ(moved.n + one, i + 55);
      const auto [never, two] = sukima::fork2(
          c, [i](context) { return never_copied(i); }, [](context below) { return support::fib(below, 10); });
      EXPECT_EQ(never.n + two, i + 55);
    }
  });
}

}  // namespace
