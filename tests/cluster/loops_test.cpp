// SPDX-License-Identifier: Apache-2.0
// Pieces of searches and of parallel_reduce on several nodes.
#include "support.hpp"

#include <sukima/ranges.hpp>
#include <sukima/search.hpp>
#include <sukima/set_bits.hpp>

#include <array>
#include <cstring>
#include <new>
#include <ranges>
#include <set>
#include <stdexcept>
#include <vector>

namespace {

using namespace cluster_support;
using sukima::call;

std::atomic<unsigned> iterations_arrived{0};

/// Ends when so many run at once: each on another node, if all nodes have one worker.
void meet(sukima::context c, unsigned all) {
  iterations_arrived.fetch_add(1);
  while (iterations_arrived.load() < all) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));  // polls
    std::this_thread::yield();
  }
}

struct offset {
  int value;
};
long meets_and_adds(sukima::context c, const offset& by, int i) {
  meet(c, 4);
  return by.value + i;
}
long sum_of_calls(sukima::context c, int value) {
  return sukima::parallel_reduce(c, 0, 4, 0L, call<meets_and_adds>(offset{value}), std::plus{});
}

TEST(loops, share_the_iterations_of_a_call) {
  for (const unsigned published : {0u, 3u}) {
    iterations_arrived = 0;
    nodes_in_process nodes({.published = published});
    EXPECT_EQ(nodes.everywhere(call<sum_of_calls>(10)), std::vector<long>(4, 46));
    EXPECT_GE(nodes.given(), 3u);
  }
}

// Answers that are later than a node's patience: it asks the next one, gets two tasks, and runs one. The
// other one has to get to the node that has none.
TEST(loops, share_what_came_to_a_busy_node) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    iterations_arrived = 0;
    nodes_in_process nodes({.published = 0, .seed = seed, .longest_delay = 20ms});
    EXPECT_EQ(nodes.everywhere(call<sum_of_calls>(10)), std::vector<long>(4, 46));
  }
}

struct part {
  std::int64_t from;
  std::int64_t to;
  friend auto operator<=>(const part&, const part&) = default;
};
/// What is split off one after the other from a loop that has begun the iteration before `next`, and then
/// from these parts, wherever they stand.
void parts_of(std::int64_t next, std::int64_t end, std::set<part>& all) {
  while (next < end) {
    const auto size = sukima::detail::travelling_part(static_cast<std::uint64_t>(end - next));
    ASSERT_GE(size, 1u);
    ASSERT_LE(size, static_cast<std::uint64_t>(end - next));
    const part p{end - static_cast<std::int64_t>(size), end};
    if (all.insert(p).second)
      for (std::int64_t begun = p.from; begun < p.to; ++begun) parts_of(begun + 1, p.to, all);
    end = p.from;
  }
}
TEST(loops, are_split_into_the_same_parts_wherever_they_stand) {
  for (std::int64_t n = 1; n <= 70; ++n) {
    std::set<part> all;
    for (std::int64_t next = 0; next < n; ++next) parts_of(next, n, all);
    for (const part& a : all) {
      std::set<part> within;
      for (std::int64_t next = a.from + 1; next < a.to; ++next) parts_of(next, a.to, within);
      for (const part& b : all) {
        const bool apart = a.to <= b.from || b.to <= a.from;
        const bool around = (a.from <= b.from && b.to <= a.to) || (b.from <= a.from && a.to <= b.to);
        ASSERT_TRUE(apart || around) << n << ": " << a.from << ' ' << a.to << ", " << b.from << ' ' << b.to;
        // A part of the loop within `a` that does not begin with it, as the owner of `a` does, is one of `a`,
        // too.
        if (a.from < b.from && b.to <= a.to) {
          ASSERT_TRUE(within.contains(b)) << n;
        }
      }
    }
  }
  using sukima::detail::travelling_part;
  for (std::uint64_t left = 3; left < 100000; ++left) {
    ASSERT_GE(3 * travelling_part(left), left);
    ASSERT_LE(3 * travelling_part(left), 2 * left);
  }
  EXPECT_EQ(travelling_part(std::uint64_t{1} << 63), std::uint64_t{1} << 62);
}

struct padded {
  char first;
  std::uint32_t second;
  double third[3];
  char last;
};
TEST(values, are_the_same_bytes_whatever_lies_between_their_members) {
#if __has_builtin(__builtin_clear_padding)
  std::vector<std::byte> written[2];
  for (const int filled : {0, 255}) {
    alignas(padded) std::byte room[sizeof(padded)];
    std::memset(room, filled, sizeof room);
    auto* const value = std::launder(reinterpret_cast<padded*>(room));
    value->first = 'a';
    value->second = 7;
    for (double& d : value->third) d = 0.5;
    value->last = 'z';
    sukima::detail::put_value(*value, written[filled != 0]);
  }
  EXPECT_EQ(written[0].size(), sizeof(padded));
  EXPECT_EQ(written[0], written[1]);
#endif
}

long square_of(int i) { return long{i} * i; }
long sum_with_hints(sukima::context c, int n) {
  return sukima::parallel_reduce(c, std::views::iota(0, n), 1L, call<square_of>(), std::plus{},
                                 sukima::grain(7));
}

TEST(loops, take_ranges_and_hints) {
  nodes_in_process nodes({.nodes = 3});
  EXPECT_EQ(nodes.everywhere(call<sum_with_hints>(2000)), std::vector<long>(3, 1 + 1999L * 2000 * 3999 / 6));
}

unsigned long meets_at_a_bit(sukima::context c, unsigned long scale, unsigned long bit) {
  meet(c, 3);
  return scale * bit;
}
unsigned long sum_of_bits(sukima::context c) {
  return sukima::parallel_reduce(c, sukima::set_bits(0b1010100ul), 0ul, call<meets_at_a_bit>(3ul),
                                 std::plus{});
}

TEST(loops, share_set_bits) {
  iterations_arrived = 0;
  nodes_in_process nodes({.nodes = 3});
  EXPECT_EQ(nodes.everywhere(call<sum_of_bits>()), std::vector<unsigned long>(3, 3 * 0b1010100ul));
  EXPECT_GE(nodes.given(), 2u);
}

struct board {
  int n = 0;
  int row = 0;
  std::array<int, 12> column{};
  bool place(int c) {
    for (int r = 0; r < row; ++r) {
      const int other = column[static_cast<unsigned>(r)];
      if (other == c || std::abs(other - c) == row - r) return false;
    }
    column[static_cast<unsigned>(row++)] = c;
    return true;
  }
};
long solutions(sukima::context c, board& b) {
  if (b.row == b.n) return 1;
  return sukima::search(
      c, b, std::views::iota(0, b.n), [](board& w, int column) { return w.place(column); },
      [](board& w, int) { --w.row; },
      [](sukima::context below, board& w, int) { return solutions(below, w); }, std::plus{});
}
long all_solutions(sukima::context c, int n) {
  board b{.n = n};
  return solutions(c, b);
}
/// With a generic body, which exists as a sequential clone, too.
long generic_solutions(auto c, board& b) {
  if (b.row == b.n) return 1;
  return sukima::search(
      c, b, std::views::iota(0, b.n), [](board& w, int column) { return w.place(column); },
      [](board& w, int) { --w.row; }, [](auto below, board& w, int) { return generic_solutions(below, w); },
      std::plus{});
}
long all_generic_solutions(sukima::context c, int n) {
  board b{.n = n};
  return generic_solutions(c, b);
}

TEST(searches, give_the_same_result) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    nodes_in_process nodes({.nodes = 3, .workers = 1 + static_cast<unsigned>(seed % 2), .seed = seed});
    EXPECT_EQ(nodes.everywhere(call<all_solutions>(8)), std::vector<long>(3, 92));
    EXPECT_EQ(nodes.everywhere(call<all_generic_solutions>(8)), std::vector<long>(3, 92));
  }
}

struct steps {
  std::array<int, 4> taken{};
  int count = 0;
};
/// At the lowest level all of the first two choices meet, so the workspace has travelled with steps in it.
long paths(sukima::context c, steps& s) {
  if (s.count == 2) {
    meet(c, 4);
    return s.taken[0] * 10 + s.taken[1];
  }
  return sukima::search(
      c, s, std::views::iota(1, 3),
      [](steps& w, int choice) { w.taken[static_cast<unsigned>(w.count++)] = choice; },
      [](steps& w, int) { --w.count; }, [](sukima::context below, steps& w, int) { return paths(below, w); },
      std::plus{});
}
long all_paths(sukima::context c) {
  steps s;
  return paths(c, s);
}

TEST(searches, take_the_workspace_along) {
  iterations_arrived = 0;
  nodes_in_process nodes({});
  EXPECT_EQ(nodes.everywhere(call<all_paths>()), std::vector<long>(4, 11 + 12 + 21 + 22));
  EXPECT_GE(nodes.given(), 3u);
}

long throws_at(sukima::context c, steps& s) {
  return sukima::search(
      c, s, std::views::iota(0, 2), [](steps&, int) {}, [](steps&, int) {},
      [](sukima::context below, steps&, int choice) -> long {
        meet(below, 2);
        if (choice == 1) throw std::out_of_range("choice 1");
        for (;;) static_cast<void>(sukima::fork2(below, [] { return 0; }, [] { return 0; }));
      },
      std::plus{});
}
long throwing(sukima::context c) {
  steps s;
  return throws_at(c, s);
}

TEST(searches, pass_exceptions_and_aborts) {
  iterations_arrived = 0;
  nodes_in_process nodes({.nodes = 2});
  nodes.on_each([&](unsigned i) {
    try {
      nodes.run(i, call<throwing>());
      ADD_FAILURE() << "node " << i << " got a result";
    } catch (const sukima::cluster::remote_exception& e) {
      EXPECT_STREQ(e.what(), "choice 1");
    }
  });
}

/// Its lambda has a capture, so it stays.
long with_capture(sukima::context c, int by) {
  steps s;
  return sukima::search(
      c, s, std::views::iota(0, 1000), [](steps&, int) {}, [](steps&, int) {},
      [by](steps&, int i) { return long{i} * by; }, std::plus{});
}
/// A loop over memory stays: another node has no such address.
const std::array<int, 3> numbers{1, 2, 3};
long over_memory(sukima::context c) {
  return sukima::parallel_reduce(c, numbers, 0L, call<square_of>(), std::plus{});
}
/// So does one whose body is a lambda.
long over_a_lambda(sukima::context c) {
  return sukima::parallel_reduce(c, 0, 1000, 0L, [](int i) { return long{i}; }, std::plus{});
}

TEST(loops, with_captures_or_memory_stay) {
  nodes_in_process nodes({.nodes = 2, .published = 0});
  EXPECT_EQ(nodes.everywhere(call<with_capture>(2)), std::vector<long>(2, 999000));
  EXPECT_EQ(nodes.everywhere(call<over_memory>()), std::vector<long>(2, 14));
  EXPECT_EQ(nodes.everywhere(call<over_a_lambda>()), std::vector<long>(2, 499500));
  EXPECT_EQ(nodes.given(), 0u);
}

static_assert(!sukima::detail::iterates_over_values<const int*>());
static_assert(!sukima::detail::iterates_over_values<std::vector<int>::iterator>());
static_assert(
    sukima::detail::iterates_over_values<std::ranges::iterator_t<decltype(std::views::iota(0, 9))>>());
static_assert(sukima::detail::iterates_over_values<sukima::set_bits<std::uint16_t>::iterator>());

}  // namespace
