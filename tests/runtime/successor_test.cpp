// SPDX-License-Identifier: Apache-2.0
// set_bits; loops and searches over ranges that only know each element's successor.
#include "support.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using sukima::context;
using sukima::parallel_for;
using sukima::parallel_reduce;
using sukima::set_bits;

static_assert(std::ranges::forward_range<set_bits<std::uint8_t>>);
static_assert(std::ranges::common_range<set_bits<std::uint64_t>>);
static_assert(std::ranges::view<set_bits<std::uint32_t>>);
static_assert(std::ranges::borrowed_range<set_bits<std::uint32_t>>);
static_assert(sukima::detail::one_word_iterator<std::ranges::iterator_t<set_bits<std::uint64_t>>>);
static_assert(sukima::detail::taken_by_successor<set_bits<unsigned>>);
static_assert(sukima::detail::taken_by_successor<std::forward_list<int>&>);
static_assert(!sukima::detail::taken_by_successor<std::set<int>&>, "what knows its size is not counted");

/// The bits of a word in the way that needs no trick.
template <class Word> std::vector<Word> bits_of(Word mask) {
  std::vector<Word> found;
  for (int i = 0; i < std::numeric_limits<Word>::digits; ++i) {
    const auto bit = static_cast<Word>(Word{1} << i);
    if ((mask & bit) != 0) found.push_back(bit);
  }
  return found;
}

template <class Word> void expect_bits(Word mask) {
  std::vector<Word> found;
  for (const Word bit : set_bits(mask)) found.push_back(bit);
  EXPECT_EQ(found, bits_of(mask)) << +mask;
  EXPECT_EQ(set_bits(mask).empty(), mask == 0);
  EXPECT_EQ(std::ranges::distance(set_bits(mask)), std::popcount(mask));
}

TEST(set_bits, are_the_bits_lowest_first) {
  for (unsigned mask = 0; mask < 256; ++mask) expect_bits(static_cast<std::uint8_t>(mask));
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t some = random();
    const std::uint64_t mask = some & random();
    expect_bits(mask);
    expect_bits(static_cast<std::uint32_t>(mask));
    expect_bits(static_cast<std::uint16_t>(mask >> 40));
  }
  expect_bits(~std::uint64_t{0});
  expect_bits(std::uint64_t{1} << 63);
  static_assert(*set_bits(12u).begin() == 4u);
  static_assert(*std::next(set_bits(12u).begin()) == 8u);
}

TEST(set_bits, iterators_outlive_the_range_and_keep_their_place) {
  auto i = set_bits(0b10110u).begin();
  const auto first = i++;
  EXPECT_EQ(*first, 2u);
  EXPECT_EQ(*i, 4u);
  EXPECT_NE(first, i);
  EXPECT_EQ(++i, set_bits(0b10000u).begin());
  EXPECT_EQ(++i, set_bits<unsigned>().end());
}

/// The integers from a number on, each known by its successor only.
struct steps : std::ranges::view_interface<steps> {
  struct iterator {
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    int at = 0;
    int operator*() const { return at; }
    iterator& operator++() {
      ++at;
      return *this;
    }
    iterator operator++(int) { return {at++}; }
    friend bool operator==(const iterator&, const iterator&) = default;
  };
  int count = 0;
  explicit steps(int n) : count(n) {}
  iterator begin() const { return {0}; }
  iterator end() const { return {count}; }
};

class successor_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, successor_test, support::worker_counts(), support::name_of_count);

/// Long enough that idle workers come for pieces.
void take_a_moment() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(2);
  while (std::chrono::steady_clock::now() < until) {
  }
}

TEST_P(successor_test, loops_take_each_element_once) {
  std::vector<std::atomic<int>> seen(3000);
  const auto see = [&](int i) {
    take_a_moment();
    seen.at(static_cast<std::size_t>(i)) += 1;
  };
  runtime.run([&](context c) {
    parallel_for(c, steps(3000), see);
    parallel_for(c, steps(3000), [&](context, int i) { see(i); });
    parallel_for(c, steps(3000), see, sukima::guard(0.5));
    parallel_for(c, steps(3000), see, sukima::grain(3));
    parallel_for(c, steps(3000), see, sukima::split([](std::int64_t next, std::int64_t end) {
                   EXPECT_LT(next, end);
                   EXPECT_LE(end, 3000);
                   return next + (end - next) / 3;
                 }));
    parallel_for(c, steps(0), [](int) { FAIL(); });
    parallel_for(c, set_bits(0u), [](context, unsigned) { FAIL(); });
  });
  runtime.run([&] { parallel_for(steps(3000), see); });
  for (const auto& n : seen) ASSERT_EQ(n, 6);
}

TEST_P(successor_test, elements_of_lists_can_be_changed) {
  std::forward_list<int> list(2000);
  std::iota(list.begin(), list.end(), 0);
  runtime.run([&](context c) {
    parallel_for(c, list, [](int& x) { x += 1; });
    parallel_for(c, list, [](context, int& x) {
      take_a_moment();
      x += 1;
    });
  });
  int expected = 2;
  for (const int x : list) ASSERT_EQ(x, expected++);
}

TEST_P(successor_test, reductions_combine_in_the_order_of_the_elements) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t some = random();
    const std::uint64_t mask = round == 0 ? 0 : some | random();
    std::string expected = "<";
    for (const std::uint64_t bit : bits_of(mask)) expected += std::to_string(std::countr_zero(bit)) + " ";
    const auto word = [](std::uint64_t bit) {
      take_a_moment();
      return std::to_string(std::countr_zero(bit)) + " ";
    };
    const auto word_in_context = [&](context c, std::uint64_t bit) {
      support::fib(c, 5);
      return word(bit);
    };
    runtime.run([&](context c) {
      EXPECT_EQ(parallel_reduce(c, set_bits(mask), std::string("<"), word, std::plus{}), expected);
      EXPECT_EQ(parallel_reduce(c, set_bits(mask), std::string("<"), word_in_context, std::plus{}), expected);
      EXPECT_EQ(parallel_reduce(c, set_bits(mask), std::string("<"), word_in_context, std::plus{},
                                sukima::guard([] { return 0.5; })),
                expected);
    });
    EXPECT_EQ(
        runtime.run([&] { return parallel_reduce(set_bits(mask), std::string("<"), word, std::plus{}); }),
        expected);
  }
}

/// A board of n queens in three words.
struct queens {
  unsigned columns = 0, left = 0, right = 0;
  unsigned free(unsigned all) const { return ~(columns | left | right) & all; }
  queens with(unsigned bit) const { return {columns | bit, (left | bit) << 1, (right | bit) >> 1}; }
};

long solutions(context c, queens q, unsigned all) {
  if (q.columns == all) return 1;
  return parallel_reduce(
      c, set_bits(q.free(all)), 0L,
      [=](context below, unsigned bit) { return solutions(below, q.with(bit), all); }, std::plus{});
}
long solutions_without_context(queens q, unsigned all) {
  if (q.columns == all) return 1;
  return parallel_reduce(
      set_bits(q.free(all)), 0L, [=](unsigned bit) { return solutions_without_context(q.with(bit), all); },
      std::plus{});
}
/// On one board for each worker, whose undo is another instruction than its apply.
struct board {
  unsigned row = 0;
  std::array<queens, 12> before{};
  queens now;
};
long solutions_on(context c, board& b, unsigned all) {
  if (b.now.columns == all) return 1;
  return sukima::search(
      c, b, set_bits(b.now.free(all)),
      [](board& mine, unsigned bit) {
        mine.before[mine.row++] = mine.now;
        mine.now = mine.now.with(bit);
      },
      [](board& mine, unsigned) { mine.now = mine.before[--mine.row]; },
      [all](context below, board& mine, unsigned) { return solutions_on(below, mine, all); }, std::plus{});
}

TEST_P(successor_test, queens_by_lowest_bit) {
  constexpr std::array known{1L, 1L, 0L, 0L, 2L, 10L, 4L, 40L, 92L, 352L, 724L};
  for (unsigned n = 1; n < known.size(); ++n) {
    const unsigned all = (1u << n) - 1;
    board b;
    runtime.run([&](context c) {
      EXPECT_EQ(solutions(c, {}, all), known[n]) << n;
      EXPECT_EQ(solutions_on(c, b, all), known[n]) << n;
    });
    EXPECT_EQ(runtime.run([&] { return solutions_without_context({}, all); }), known[n]) << n;
    EXPECT_EQ(b.row, 0u);
  }
}

/// An exception of a loop's body aborts the rest. The lowest of the exceptions that have arrived wins, and
/// all elements before its element were begun.
TEST_P(successor_test, exceptions_leave_loops) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> begun{0};
    try {
      runtime.run([&](context c) {
        parallel_for(c, steps(500), [&](context below, int i) {
          ++begun;
          support::fib(below, 8);
          if (i == 17) throw support::test_error(i);
        });
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const support::test_error& e) {
      EXPECT_EQ(e.number, 17);
    }
    EXPECT_GE(begun, 1);
    if (GetParam() == 1) {
      EXPECT_EQ(begun, 18);
    }
  }
}

/// The steps on the way to a node; every undo must fit to its top.
class path {
 public:
  void push(std::uint32_t bit) { steps_.push_back(bit); }
  void pop(std::uint32_t bit) {
    ASSERT_FALSE(steps_.empty());
    EXPECT_EQ(steps_.back(), bit);
    steps_.pop_back();
  }
  const std::vector<std::uint32_t>& steps() const { return steps_; }

 private:
  std::vector<std::uint32_t> steps_;
};
const auto push = [](path& p, std::uint32_t bit) { p.push(bit); };
const auto pop = [](path& p, std::uint32_t bit) { p.pop(bit); };

/// Counts the leaves of a tree of this depth, checks the path on the way.
long leaves(context c, path& p, std::vector<std::uint32_t> expected, int depth) {
  EXPECT_EQ(p.steps(), expected);
  if (depth == 0) return 1;
  return sukima::search(
      c, p, set_bits(std::uint32_t{0b1101011}), push, pop,
      [&](context below, path& mine, std::uint32_t bit) {
        std::vector<std::uint32_t> next = expected;
        next.push_back(bit);
        return leaves(below, mine, std::move(next), depth - 1);
      },
      std::plus{});
}

TEST_P(successor_test, searches_try_every_choice_in_the_state_of_its_path) {
  path p;
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(runtime.run([&](context c) { return leaves(c, p, {}, 5); }), 3125);
    EXPECT_TRUE(p.steps().empty());
  }
}

TEST_P(successor_test, searches_need_no_context_and_may_refuse_choices) {
  path p;
  const auto push_high = [](path& q, std::uint32_t bit) {
    if (bit < 4) return false;
    q.push(bit);
    return true;
  };
  const std::function<long(path&, int)> count = [&](path& q, int depth) -> long {
    if (depth == 0) return 1;
    return sukima::search(
        q, set_bits(std::uint32_t{0b1101011}), push_high, pop,
        [&](path& mine, std::uint32_t) { return count(mine, depth - 1); }, 0L, std::plus{},
        sukima::guard(0.5));
  };
  for (int round = 0; round < 10; ++round) EXPECT_EQ(runtime.run([&] { return count(p, 6); }), 729);
  EXPECT_TRUE(p.steps().empty());
}

TEST_P(successor_test, searches_restore_the_workspace_after_exceptions) {
  for (int round = 0; round < 30; ++round) {
    path p;
    p.push(99);
    const std::function<long(context, path&, int)> walk = [&](context c, path& mine, int depth) -> long {
      if (mine.steps() == std::vector<std::uint32_t>{99, 8, 2, 64}) throw support::test_error(round);
      if (depth == 0) return 1;
      return sukima::search(
          c, mine, set_bits(0b1101011u), push, pop,
          [&](context below, path& q, std::uint32_t) { return walk(below, q, depth - 1); }, std::plus{});
    };
    EXPECT_THROW(runtime.run([&](context c) { return walk(c, p, 5); }), support::test_error);
    EXPECT_EQ(p.steps(), std::vector<std::uint32_t>{99});
  }
}

TEST_P(successor_test, searches_stop_at_a_first_solution) {
  path p;
  std::atomic<long> visited{0};
  const std::function<int(context, path&, int, sukima::first_solution<std::uint32_t>&)> look =
      [&](context c, path& mine, int depth, auto& solution) -> int {
    ++visited;
    const auto sum = std::accumulate(mine.steps().begin(), mine.steps().end(), 0u);
    if (depth == 0) {
      if (sum == 77) solution.found(sum);
      return 0;
    }
    return sukima::search(
        c, mine, set_bits(0b1101011u), push, pop,
        [&](context below, path& q, std::uint32_t) { return look(below, q, depth - 1, solution); },
        std::plus{});
  };
  for (int round = 0; round < 20; ++round) {
    const auto found = runtime.run([&](context c) {
      return sukima::search_first<std::uint32_t>(
          c, [&](context below, auto& solution) { look(below, p, 6, solution); });
    });
    EXPECT_EQ(found, 77u);
    EXPECT_TRUE(p.steps().empty());
  }
  if (GetParam() == 1) {
    EXPECT_LT(visited, 20 * 5000) << "the whole tree has 19531 nodes";
  }
}

TEST(successor, a_thief_gets_the_upper_half_in_the_state_of_the_choice) {
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 20; ++round) {
    path p;
    std::mutex lock;
    std::vector<std::uint32_t> taken;
    std::atomic<bool> done{false};
    const auto here = std::this_thread::get_id();
    const auto sum = two.run([&](context c) {
      return sukima::search(
          c, p, set_bits(0b111110u), push, pop,
          [&](context c1, path& p1, std::uint32_t first) -> std::uint32_t {
            if (std::this_thread::get_id() != here) {
              EXPECT_EQ(p1.steps(), std::vector{first});
              const std::lock_guard hold(lock);
              taken.push_back(first);
              done = true;
              return first;
            }
            return sukima::search(
                c1, p1, set_bits(1u << 20), push, pop,
                [&](context c2, path& p2, std::uint32_t second) {
                  const std::vector<std::uint32_t> expected{first, second};
                  EXPECT_EQ(p2.steps(), expected);
                  EXPECT_TRUE(support::poll_until(c2, [&] { return done.load(); }));
                  EXPECT_EQ(p2.steps(), expected) << "coming forward restores the path";
                  return first;
                },
                std::plus{});
          },
          std::plus{});
    });
    EXPECT_EQ(sum, 0b111110u);
    ASSERT_FALSE(taken.empty());
    EXPECT_EQ(taken.front(), 16u) << "of the four that were left the owner keeps two";
    EXPECT_TRUE(p.steps().empty());
  }
  EXPECT_GT(two.statistics().backtracks, 0u);
}

/// Numbers count from the choice in progress; what is out of range is clamped.
TEST(successor, split_says_where_a_search_is_split) {
  sukima::runtime two(support::with_workers(2));
  for (const auto& [place, first_taken] : {std::pair<std::int64_t, std::uint32_t>{1, 2},
                                           {3, 8},
                                           {4, 16},
                                           {-5, 2},
                                           {std::int64_t{1} << 40, 16}}) {
    path p;
    std::mutex lock;
    std::vector<std::pair<std::int64_t, std::int64_t>> asked;
    std::atomic<std::uint32_t> taken{0};
    const auto here = std::this_thread::get_id();
    two.run([&, where = place](context c) {
      sukima::search(
          c, p, set_bits(0b11111u), push, pop,
          [&](context below, path&, std::uint32_t bit) {
            if (std::this_thread::get_id() != here) {
              std::uint32_t none = 0;
              taken.compare_exchange_strong(none, bit);
            } else if (bit == 1) {
              EXPECT_TRUE(support::poll_until(below, [&] { return taken != 0; }));
            }
            return 0;
          },
          0, std::plus{}, sukima::split([&](std::int64_t next, std::int64_t end) {
            const std::lock_guard hold(lock);
            asked.emplace_back(next, end);
            return where;
          }));
    });
    ASSERT_FALSE(asked.empty());
    EXPECT_EQ(asked.front(), std::make_pair(std::int64_t{1}, std::int64_t{5}));
    EXPECT_EQ(taken, first_taken) << place;
  }
}

/// `guard` is asked in the state of its choice, and what it protects is not given away.
TEST(successor, guards_are_asked_in_the_state_of_their_choice) {
  sukima::runtime two(support::with_workers(2));
  path p;
  std::atomic<int> asked{0};
  const auto here = std::this_thread::get_id();
  two.run([&](context c) {
    sukima::search(
        c, p, set_bits(0b1111u), push, pop,
        [&](context c1, path& p1, std::uint32_t) {
          EXPECT_EQ(std::this_thread::get_id(), here);
          EXPECT_TRUE(support::poll_until(c1, [&] { return asked > 0; }));
          EXPECT_EQ(p1.steps().size(), 1u);
          return 0;
        },
        0, std::plus{}, sukima::guard([&] {
          EXPECT_TRUE(p.steps().empty());
          ++asked;
          return 0.0;
        }));
  });
  EXPECT_GT(asked, 0);
}

/// Lambdas that keep a state of their own: each piece begins with a copy, and no other piece changes it.
TEST_P(successor_test, callables_with_a_state_are_copied_for_each_piece) {
  for (int round = 0; round < 20; ++round) {
    path p;
    std::atomic<long> calls{0};
    const long sum = runtime.run([&](context c) {
      return sukima::search(
          c, p, steps(300), [](path& q, int i) { q.push(static_cast<std::uint32_t>(i)); },
          [](path& q, int i) { q.pop(static_cast<std::uint32_t>(i)); },
          [&calls, last = -1](context below, path&, int i) mutable -> long {
            EXPECT_LT(last, i) << "in a piece the choices come in their order";
            last = i;
            ++calls;
            return support::fib(below, 6);
          },
          std::plus{});
    });
    EXPECT_EQ(sum, 300 * 8);
    EXPECT_EQ(calls, 300);
  }
}

/// Callables that are too large for a frame are called where they are.
TEST_P(successor_test, large_callables_are_not_copied) {
  struct large {
    std::array<char, 4096> room{};
    const void* self = nullptr;
    void operator()(path& p, std::uint32_t bit) const {
      EXPECT_EQ(self, this);
      p.push(bit);
    }
  } apply;
  apply.self = &apply;
  path p;
  const std::function<long(context, path&, int)> count = [&](context c, path& q, int depth) -> long {
    if (depth == 0) return 1;
    return sukima::search(
        c, q, set_bits(0b111u), apply, pop,
        [&](context below, path& mine, std::uint32_t) { return count(below, mine, depth - 1); }, std::plus{});
  };
  EXPECT_EQ(runtime.run([&](context c) { return count(c, p, 7); }), 2187);
}

}  // namespace
