// SPDX-License-Identifier: Apache-2.0
// Loops over blocks, tables, lists, maps, filters and ranges that split themselves; parallel_fold.
#include "support.hpp"

#include <forward_list>
#include <limits>
#include <list>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using sukima::blocked_range;
using sukima::context;
using sukima::parallel_fold;
using sukima::parallel_for;
using sukima::parallel_reduce;
using sukima::range2d;

class range_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, range_test, support::worker_counts(), support::name_of_count);

/// Long enough that idle workers come for pieces.
void take_a_moment() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(2);
  while (std::chrono::steady_clock::now() < until) {
  }
}

/// How often each of n numbers was seen.
class tally {
 public:
  explicit tally(std::size_t n) : seen_(n) {}
  void see(std::size_t i) { seen_.at(i) += 1; }
  void expect_each(int times) const {
    for (const auto& n : seen_) ASSERT_EQ(n, times);
  }

 private:
  std::vector<std::atomic<int>> seen_;
};

TEST_P(range_test, blocks_contain_each_element_once) {
  tally seen(50'000);
  const auto see = [&](int begin, int end) {
    ASSERT_LT(begin, end);
    for (int i = begin; i < end; ++i) seen.see(static_cast<std::size_t>(i));
  };
  runtime.run([&](context c) {
    parallel_for(c, blocked_range(0, 50'000), see);
    parallel_for(c, blocked_range(0, 50'000), [&](context, int begin, int end) { see(begin, end); });
    parallel_for(c, blocked_range(0, 50'000), see, sukima::grain(7));
    parallel_for(c, blocked_range(5, 5), see);
    parallel_for(c, blocked_range(5, 2), see);
  });
  runtime.run([&] { parallel_for(blocked_range(0, 50'000), see); });
  seen.expect_each(4);
}

TEST_P(range_test, blocks_are_as_long_as_the_grain) {
  std::atomic<int> shorter{0};
  runtime.run([&](context c) {
    parallel_for(
        c, blocked_range(0, 1024),
        [&](int begin, int end) {
          EXPECT_LE(end - begin, 8);
          if (end - begin < 8) ++shorter;
        },
        sukima::grain(8));
  });
  if (GetParam() == 1) {
    EXPECT_EQ(shorter, 0);
  }
}

TEST_P(range_test, blocks_take_iterators_and_ranges) {
  std::vector<int> v(10'000, 1);
  const auto sum_of = [](auto begin, auto end) { return std::accumulate(begin, end, 0L); };
  runtime.run([&](context c) {
    parallel_for(c, blocked_range(v), [](auto begin, auto end) { std::fill(begin, end, 2); });
    EXPECT_EQ(parallel_reduce(c, blocked_range(v.begin(), v.end()), 5L, sum_of, std::plus{}), 20'005);
    EXPECT_EQ(parallel_reduce(c, blocked_range(std::span(v)), 0L, sum_of, std::plus{}, sukima::grain(100)),
              20'000);
  });
  EXPECT_EQ(runtime.run([&] { return parallel_reduce(blocked_range(v), 0L, sum_of, std::plus{}); }), 20'000);
}

/// A block's body may fork with its context: what it forks is given away, and its results arrive.
TEST_P(range_test, bodies_of_blocks_may_fork) {
  const long sum = runtime.run([&](context c) {
    return parallel_reduce(
        c, blocked_range(0, 100), 0L,
        [](context below, int begin, int end) {
          long part = 0;
          for (int i = begin; i < end; ++i) part += support::fib(below, 10 + i % 5);
          return part;
        },
        std::plus{}, sukima::grain(10));
  });
  EXPECT_EQ(sum, 20 * (55 + 89 + 144 + 233 + 377));
}

TEST_P(range_test, tables_contain_each_place_once) {
  tally seen(60 * 70);
  const auto see = [&](int row, long column) {
    ASSERT_TRUE(row >= 0 && row < 60 && column >= 0 && column < 70);
    seen.see(static_cast<std::size_t>(row * 70 + column));
  };
  runtime.run([&](context c) {
    parallel_for(c, range2d(60, 70L), see);
    parallel_for(c, range2d(60, 70L), [&](context, int row, long column) { see(row, column); });
    parallel_for(c, range2d(-30, 30, 100L, 170L), [&](int row, long column) { see(row + 30, column - 100); });
    parallel_for(c, range2d(0, 70), [](int, int) { FAIL(); });
    parallel_for(c, range2d(60, 0), [](int, int) { FAIL(); });
  });
  runtime.run([&] { parallel_for(range2d(60, 70L), see); });
  seen.expect_each(4);
}

TEST_P(range_test, tables_of_one_row_and_of_one_column_are_shared_out) {
  for (const auto& [rows, columns] : {std::pair(1, 3000), std::pair(3000, 1)}) {
    const long sum = runtime.run([&, r = rows, k = columns](context c) {
      return parallel_reduce(
          c, range2d(r, k), 0L,
          [](int row, int column) {
            take_a_moment();
            return row + column;
          },
          std::plus{});
    });
    EXPECT_EQ(sum, 3000L * 2999 / 2);
  }
}

TEST_P(range_test, tables_are_read_row_by_row) {
  const std::string words = runtime.run([&](context c) {
    return parallel_reduce(
        c, range2d(3, 4), std::string(),
        [](context, int row, int column) {
          take_a_moment();
          return std::to_string(row) + std::to_string(column) + " ";
        },
        std::plus{});
  });
  EXPECT_EQ(words, "00 01 02 03 10 11 12 13 20 21 22 23 ");
}

TEST_P(range_test, tables_that_are_too_large_are_refused) {
  const std::int64_t wide = std::int64_t{1} << 40;
  runtime.run([&](context c) {
    EXPECT_THROW(parallel_for(c, range2d(wide, wide), [](auto, auto) {}), std::length_error);
    // The product of the sides counts, and not each side.
    constexpr std::uint64_t longest = ~std::uint64_t{0};
    EXPECT_THROW(parallel_for(c, range2d(longest, 1), [](auto, auto) {}), std::length_error);
    parallel_for(c, range2d(longest, 0), [](auto, auto) { ADD_FAILURE(); });
    parallel_for(c, range2d(0, longest), [](auto, auto) { ADD_FAILURE(); });
  });
}

// The distance of such iterators has more than 64 bits.
TEST_P(range_test, loops_from_a_later_to_an_earlier_iterator_have_no_iterations) {
  const auto all = std::views::iota(std::uint64_t{0}, ~std::uint64_t{0});
  const auto early = all.begin() + 5;
  const auto late = all.end();
  runtime.run([&](context c) {
    int calls = 0;
    sukima::parallel_for(c, late, early, [&](std::uint64_t) { ++calls; });
    sukima::parallel_for(c, sukima::blocked_range(late, early), [&](auto, auto) { ++calls; });
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(parallel_reduce(c, late, early, 0, [](std::uint64_t) { return 1; }, std::plus{}), 0);
    EXPECT_THROW(sukima::parallel_for(c, early, late, [](std::uint64_t) {}), std::length_error);
  });
}

TEST_P(range_test, lists_and_maps) {
  std::list<int> l(5000);
  std::iota(l.begin(), l.end(), 0);
  std::map<int, std::atomic<int>> m;
  for (int i = 0; i < 3000; ++i) m[i] = 0;
  std::set<int> s;
  for (int i = 0; i < 3000; ++i) s.insert(3 * i);
  std::forward_list<int> f(l.begin(), l.end());
  runtime.run([&](context c) {
    parallel_for(c, l, [](int& x) { x += 1; });
    parallel_for(c, l, [](context, int& x) { x += 1; });
    parallel_for(c, m, [](auto& entry) {
      take_a_moment();
      entry.second += entry.first;
    });
    EXPECT_EQ(parallel_reduce(c, s, 0L, [](int x) { return x; }, std::plus{}), 3L * 3000 * 2999 / 2);
    EXPECT_EQ(parallel_reduce(c, f, 7L, [](context, int x) { return x; }, std::plus{}), 5000L * 4999 / 2 + 7);
    parallel_for(c, std::list<int>{}, [](int) { FAIL(); });
  });
  runtime.run([&] { parallel_for(l, [](int& x) { x += 1; }); });
  int expected = 3;
  for (const int x : l) ASSERT_EQ(x, expected++);
  for (const auto& [key, value] : m) ASSERT_EQ(key, value);
}

/// Forks in the body of an iteration over a list: pieces of the outer loop are split off from below.
TEST_P(range_test, loops_over_lists_within_loops_over_lists) {
  std::list<std::list<int>> outer;
  for (int i = 0; i < 60; ++i) outer.emplace_back(static_cast<std::size_t>(i), 1);
  for (int round = 0; round < 5; ++round) {
    const long with_context = runtime.run([&](context c) {
      return parallel_reduce(
          c, outer, 0L,
          [](context below, const std::list<int>& inner) {
            return parallel_reduce(
                below, inner, 0L,
                [](int x) {
                  take_a_moment();
                  return x;
                },
                std::plus{});
          },
          std::plus{});
    });
    EXPECT_EQ(with_context, 60 * 59 / 2);
    const long without = runtime.run([&] {
      return parallel_reduce(
          outer, 0L,
          [](const std::list<int>& inner) {
            return parallel_reduce(inner, 0L, [](int x) { return x; }, std::plus{});
          },
          std::plus{});
    });
    EXPECT_EQ(without, 60 * 59 / 2);
  }
}

TEST_P(range_test, lists_keep_their_order) {
  std::list<char> letters;
  for (int i = 0; i < 200; ++i) letters.push_back(static_cast<char>('a' + i % 26));
  for (int round = 0; round < 20; ++round) {
    const std::string text = runtime.run([&](context c) {
      return parallel_reduce(
          c, letters, std::string(),
          [](context, char x) {
            take_a_moment();
            return std::string(1, x);
          },
          std::plus{});
    });
    EXPECT_EQ(text, std::string(letters.begin(), letters.end()));
  }
}

TEST_P(range_test, filters) {
  std::vector<int> v(20'000);
  std::iota(v.begin(), v.end(), 0);
  const std::list<int> l(v.begin(), v.end());
  const auto even = [](int x) { return x % 2 == 0; };
  const long expected = 10'000L * 9'999;
  const auto value = [](int x) { return static_cast<long>(x); };
  const auto value_with_context = [](context, int x) { return static_cast<long>(x); };
  runtime.run([&](context c) {
    EXPECT_EQ(parallel_reduce(c, v | std::views::filter(even), 0L, value, std::plus{}), expected);
    EXPECT_EQ(parallel_reduce(c, v | std::views::filter(even), 0L, value_with_context, std::plus{}),
              expected);
    EXPECT_EQ(parallel_reduce(c, l | std::views::filter(even), 0L, value, std::plus{}), expected);
    const auto doubled = [](int x) { return 2 * x; };
    EXPECT_EQ(parallel_reduce(c, v | std::views::filter(even) | std::views::transform(doubled), 0L, value,
                              std::plus{}),
              2 * expected);
    EXPECT_EQ(
        parallel_reduce(c, std::views::iota(0, 20'000) | std::views::filter(even), 0L, value, std::plus{}),
        expected);
    EXPECT_EQ(parallel_reduce(c, v | std::views::filter([by = 2](int x) mutable { return x % by == 0; }), 0L,
                              value, std::plus{}),
              expected);
    auto odd = v | std::views::filter([](int x) { return x % 2 != 0; });
    parallel_for(c, odd, [](int& x) { x = 1; });
    EXPECT_EQ(parallel_reduce(c, odd, 0L, value, std::plus{}), 10'000);
    EXPECT_EQ(parallel_reduce(c, v | std::views::filter([](int) { return false; }), 3L, value, std::plus{}),
              3);
  });
}

/// A binary tree that is split at its root until nothing is left but leaves.
struct tree {
  int value;
  std::unique_ptr<tree> left;
  std::unique_ptr<tree> right;
};
std::unique_ptr<tree> grow(int from, int to) {
  if (from >= to) return nullptr;
  const int middle = from + (to - from) / 2;
  return std::make_unique<tree>(tree{middle, grow(from, middle), grow(middle + 1, to)});
}
/// The nodes of some trees, in order: a stack of subtrees, each to be read as "left, node, right" or as one
/// node.
class subtrees {
 public:
  explicit subtrees(const tree* t) {
    if (t != nullptr) parts_.push_back({t, false});
  }
  std::optional<subtrees> split() {
    if (parts_.size() == 1 && !parts_[0].only_the_node) open(0);
    if (parts_.size() < 2) return std::nullopt;
    subtrees rest(nullptr);
    const auto middle = parts_.begin() + static_cast<std::ptrdiff_t>((parts_.size() + 1) / 2);
    rest.parts_.assign(middle, parts_.end());
    parts_.erase(middle, parts_.end());
    return rest;
  }
  struct iterator {
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    subtrees* from = nullptr;
    int operator*() const { return from->parts_.front().root->value; }
    iterator& operator++() {
      from->parts_.erase(from->parts_.begin());
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return from->parts_.empty(); }
  };
  iterator begin() { return {this}; }
  static std::default_sentinel_t end() { return {}; }

 private:
  struct part {
    const tree* root;
    bool only_the_node;
  };
  void open(std::size_t at) {
    const tree* t = parts_[at].root;
    std::vector<part> opened;
    if (t->left) opened.push_back({t->left.get(), false});
    opened.push_back({t, true});
    if (t->right) opened.push_back({t->right.get(), false});
    parts_ = std::move(opened);
  }
  std::vector<part> parts_;
};
static_assert(sukima::splittable<subtrees>);
static_assert(!sukima::splittable<std::list<int>>);

TEST_P(range_test, a_range_that_splits_itself) {
  const auto root = grow(0, 3000);
  tally seen(3000);
  runtime.run([&](context c) {
    parallel_for(c, subtrees(root.get()), [&](int x) { seen.see(static_cast<std::size_t>(x)); });
    const auto numbers = parallel_reduce(
        c, subtrees(root.get()), std::vector<int>{-1}, [](context, int x) { return std::vector<int>{x}; },
        [](std::vector<int> a, const std::vector<int>& b) {
          a.insert(a.end(), b.begin(), b.end());
          return a;
        });
    ASSERT_EQ(numbers.size(), 3001u);
    for (int i = 0; i < 3001; ++i) ASSERT_EQ(numbers[static_cast<std::size_t>(i)], i - 1);
    EXPECT_EQ(parallel_reduce(c, subtrees(nullptr), 4, [](int x) { return x; }, std::plus{}), 4);
  });
  runtime.run([&] {
    parallel_for(subtrees(root.get()), [&](int x) { seen.see(static_cast<std::size_t>(x)); });
    EXPECT_EQ(
        parallel_reduce(subtrees(root.get()), 0, [](int x) { return x; }, std::plus{}), 3000 * 2999 / 2);
  });
  seen.expect_each(2);
}

TEST_P(range_test, folds_over_a_range_that_splits_itself) {
  const auto root = grow(0, 3000);
  const auto append = [](std::vector<int>& all, int x) { all.push_back(x); };
  const auto append_in = [](context, std::vector<int>& all, int x) { all.push_back(x); };
  const auto append_anywhere = [](auto, std::vector<int>& all, int x) { all.push_back(x); };
  const auto join = [](std::vector<int> a, const std::vector<int>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  std::vector<int> expected(3000);
  std::iota(expected.begin(), expected.end(), 0);
  const std::vector<int> none;
  runtime.run([&](auto c) {
    EXPECT_EQ(parallel_fold(c, subtrees(root.get()), none, append, join), expected);
    EXPECT_EQ(parallel_fold(c, subtrees(root.get()), none, append_in, join), expected);
    EXPECT_EQ(parallel_fold(c, subtrees(root.get()), none, append_anywhere, join), expected);
    EXPECT_EQ(parallel_fold(c, subtrees(nullptr), std::vector{4}, append, join), std::vector{4});
  });
  runtime.run([&] { EXPECT_EQ(parallel_fold(subtrees(root.get()), none, append, join), expected); });
}

TEST_P(range_test, exceptions_leave_loops_over_lists_and_splits) {
  std::list<int> l(2000);
  std::iota(l.begin(), l.end(), 0);
  const auto root = grow(0, 2000);
  const auto throws_late = [](int x) {
    if (x == 1500) throw support::test_error(x);
  };
  EXPECT_EQ(support::message_of([&] { runtime.run([&](context c) { parallel_for(c, l, throws_late); }); }),
            "error 1500");
  EXPECT_EQ(support::message_of(
                [&] { runtime.run([&](context c) { parallel_for(c, subtrees(root.get()), throws_late); }); }),
            "error 1500");
}

TEST_P(range_test, folds_into_one_sum_for_each_piece) {
  support::counted::reset();
  struct histogram {
    std::vector<long> counts = std::vector<long>(10);
    support::counted watched;
  };
  const auto add = [](histogram& h, int i) { ++h.counts[static_cast<std::size_t>(i % 10)]; };
  const auto join = [](histogram a, const histogram& b) {
    for (std::size_t i = 0; i < 10; ++i) a.counts[i] += b.counts[i];
    return a;
  };
  const histogram identity;
  const histogram h =
      runtime.run([&](context c) { return parallel_fold(c, 0, 100'000, identity, add, join); });
  EXPECT_EQ(h.counts, std::vector<long>(10, 10'000));
  if (GetParam() == 1) {
    EXPECT_EQ(support::counted::copies(), 1) << "one worker needs one sum";
  } else {
    EXPECT_LE(static_cast<std::uint64_t>(support::counted::copies()), 1 + runtime.statistics().promotions);
  }
  EXPECT_EQ(support::counted::errors(), 0);
}

TEST_P(range_test, folds_keep_the_order) {
  std::list<int> l(300);
  std::iota(l.begin(), l.end(), 0);
  std::vector<int> v(l.begin(), l.end());
  const auto append = [](std::vector<int>& sum, int x) {
    take_a_moment();
    sum.push_back(x);
  };
  const auto join = [](std::vector<int> a, const std::vector<int>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const std::vector<int> none;
  for (int round = 0; round < 10; ++round) {
    runtime.run([&](context c) {
      EXPECT_EQ(parallel_fold(c, 0, 300, none, append, join), v);
      EXPECT_EQ(parallel_fold(c, l, none, append, join), v);
      EXPECT_EQ(
          parallel_fold(c, v, none, [&](context, std::vector<int>& sum, int x) { append(sum, x); }, join), v);
      EXPECT_EQ(parallel_fold(
                    c, blocked_range(v), none,
                    [](std::vector<int>& sum, auto begin, auto end) { sum.insert(sum.end(), begin, end); },
                    join, sukima::grain(5)),
                v);
    });
    runtime.run([&] {
      EXPECT_EQ(parallel_fold(0, 300, none, append, join), v);
      EXPECT_EQ(parallel_fold(v, none, append, join), v);
    });
  }
}

TEST_P(range_test, folds_combine_by_a_pointer_to_a_member_function) {
  struct total {
    long value = 0;
    total plus(const total& other) const { return {value + other.value}; }
  };
  const auto add = [](total& sum, int i) { sum.value += i; };
  runtime.run([&](context c) {
    EXPECT_EQ(sukima::parallel_fold(c, 0, 10'000, total{}, add, &total::plus, sukima::grain(7)).value,
              49'995'000);
  });
}

TEST_P(range_test, folds_over_tables) {
  const long sum = runtime.run([&](context c) {
    return parallel_fold(
        c, range2d(100, 200), 0L, [](long& s, int row, int column) { s += row * column; }, std::plus{});
  });
  EXPECT_EQ(sum, 100L * 99 / 2 * 200 * 199 / 2);
}

}  // namespace
