// SPDX-License-Identifier: Apache-2.0
// Reductions in the fixed order: values that record how they were combined, against the trie of the numbers.
#include "support.hpp"

#include <sukima/detail/fixed_order.hpp>
#include <sukima/fold.hpp>
#include <sukima/ranges.hpp>
#include <sukima/scan.hpp>
#include <sukima/search.hpp>
#include <sukima/set_bits.hpp>

#include <bit>
#include <forward_list>
#include <list>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using sukima::context;

/// How it came about: "7", or "(" left right ")".
struct grouping {
  std::string text;
  friend bool operator==(const grouping&, const grouping&) = default;
  friend std::ostream& operator<<(std::ostream& to, const grouping& g) { return to << g.text; }
};
struct group {
  grouping operator()(const grouping& a, const grouping& b) const {
    return {"(" + a.text + " " + b.text + ")"};
  }
};
static_assert(!sukima::exactly_associative<grouping, group>);
static_assert(!sukima::exactly_associative<double, std::plus<>>);
static_assert(!sukima::exactly_associative<std::vector<float>, std::plus<>>);
static_assert(sukima::exactly_associative<std::pair<long, std::string>, std::plus<>>);

grouping grouping_of(std::uint64_t i) { return {std::to_string(i)}; }
void work_a_while() {
  std::uint64_t state = 1;
  for (unsigned turn = 0; turn < 2000; ++turn) {
    state = state * 6364136223846793005u + 1;
    asm volatile("" : "+r"(state));  // it is not left out
  }
}
/// Long enough for thieves to come.
grouping slow_grouping_of(std::uint64_t i) {
  work_a_while();
  return grouping_of(i);
}

/// The trie over ascending numbers: cut where the highest differing bit changes.
template <class Leaf> grouping trie(const std::vector<std::uint64_t>& numbers, std::size_t from,
                                    std::size_t to, const Leaf& leaf) {
  if (to - from == 1) return leaf(numbers[from]);
  const std::uint64_t bit = std::bit_floor(numbers[from] ^ numbers[to - 1]);
  std::size_t middle = from + 1;
  while ((numbers[middle] & bit) == 0) ++middle;
  return group{}(trie(numbers, from, middle, leaf), trie(numbers, middle, to, leaf));
}
grouping trie_of(const std::vector<std::uint64_t>& numbers) {
  return group{}({"init"}, trie(numbers, 0, numbers.size(), grouping_of));
}
std::vector<std::uint64_t> numbers_below(std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(ordered_values, are_combined_along_the_trie_however_they_are_split) {
  std::mt19937_64 draws(5);
  for (unsigned round = 0; round < 400; ++round) {
    std::vector<std::uint64_t> numbers;
    const std::uint64_t density = 1 + draws() % 4;
    for (std::uint64_t i = draws() % 50; numbers.size() < 1 + round / 2; ++i)
      if (draws() % density == 0) numbers.push_back(i);
    group combine;
    std::vector<sukima::detail::ordered_values<grouping>> pieces(1);
    for (const std::uint64_t i : numbers) {
      if (draws() % 9 == 0) pieces.emplace_back();
      pieces.back().add(i, grouping_of(i), combine);
      ASSERT_LE(pieces.back().parts().size(), 2 * std::bit_width(numbers.back()) + 2u);
    }
    while (pieces.size() > 1) {  // neighbours join in any order
      const std::size_t left = draws() % (pieces.size() - 1);
      pieces[left].add(std::move(pieces[left + 1]), combine);
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(left) + 1);
    }
    ASSERT_EQ(std::move(pieces.front()).total(combine), trie(numbers, 0, numbers.size(), grouping_of));
  }
}

class fixed_order : public support::runtimes {
 protected:
  fixed_order() { sukima::detail::combines_in_fixed_order = true; }
  ~fixed_order() override { sukima::detail::combines_in_fixed_order = false; }
};
INSTANTIATE_TEST_SUITE_P(workers, fixed_order, support::worker_counts(), support::name_of_count);

TEST_P(fixed_order, is_that_of_the_numbers_of_a_loop) {
  for (const std::uint64_t n : {1u, 2u, 3u, 15u, 16u, 17u, 200u, 1000u}) {
    const grouping expected = trie_of(numbers_below(n));
    const std::vector<std::uint64_t> all = numbers_below(n);
    runtime.run([&](context c) {
      const auto with_context = [](context, std::uint64_t i) { return slow_grouping_of(i); };
      const auto generic = [](auto below, std::uint64_t i) {
        const auto [a, b] = sukima::fork2(below, [&] { return slow_grouping_of(i); }, [] { return 0; });
        return b == 0 ? a : grouping{};
      };
      EXPECT_EQ(sukima::parallel_reduce(c, std::uint64_t{0}, n, grouping{"init"}, slow_grouping_of, group{}),
                expected);
      EXPECT_EQ(sukima::parallel_reduce(c, std::uint64_t{0}, n, grouping{"init"}, with_context, group{}),
                expected);
      EXPECT_EQ(sukima::parallel_reduce(c, std::uint64_t{0}, n, grouping{"init"}, generic, group{}),
                expected);
      EXPECT_EQ(sukima::parallel_reduce(c, all, grouping{"init"}, slow_grouping_of, group{}), expected);
      EXPECT_EQ(sukima::parallel_reduce(c, std::list(all.begin(), all.end()), grouping{"init"},
                                        slow_grouping_of, group{}),
                expected);
      EXPECT_EQ(sukima::parallel_reduce(c, std::forward_list(all.begin(), all.end()), grouping{"init"},
                                        with_context, group{}),
                expected);
    });
  }
  EXPECT_EQ(sukima::parallel_reduce(
                5, 5, grouping{"init"}, [](int) { return grouping{}; }, group{}),
            grouping{"init"});
}

/// Of very different sizes, so that each grouping rounds otherwise.
double summand(std::uint64_t i) {
  return 1.0 / static_cast<double>(i + 1) + static_cast<double>(i % 7 * 100000);
}
/// The sum of the numbers below `end` in the block of `size` numbers that begins at `first`.
double trie_sum(std::uint64_t first, std::uint64_t size, std::uint64_t end) {
  if (size == 1) return summand(first);
  const double lower = trie_sum(first, size / 2, end);
  return first + size / 2 < end ? lower + trie_sum(first + size / 2, size / 2, end) : lower;
}

// Short bodies are combined in runs, which must be places of the same trie.
TEST_P(fixed_order, of_short_bodies_is_that_of_the_numbers_of_a_loop) {
  for (const std::uint64_t n : {1u, 15u, 16u, 31u, 33u, 5000u, 100'001u}) {
    const double expected = 0.5 + trie_sum(0, std::bit_ceil(n), n);
    const double found = runtime.run([&](context c) {
      return sukima::parallel_reduce(c, std::uint64_t{0}, n, 0.5, summand, std::plus{});
    });
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(expected)) << n;
  }
}

// Elements that a filter leaves keep their numbers; a set of bits has those of the bits.
TEST_P(fixed_order, is_that_of_the_numbers_that_are_left) {
  const std::vector<std::uint64_t> all = numbers_below(300);
  std::vector<std::uint64_t> left;
  const auto accepted = [](std::uint64_t i) { return i % 7 == 2 || i % 5 == 1; };
  std::ranges::copy_if(all, std::back_inserter(left), accepted);
  const std::uint64_t bits = 0xf0010f0f00ff1357u;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t b = bits; b != 0; b &= b - 1)
    numbers.push_back(static_cast<std::uint64_t>(std::countr_zero(b)));
  runtime.run([&](context c) {
    EXPECT_EQ(sukima::parallel_reduce(c, all | std::views::filter(accepted), grouping{"init"},
                                      slow_grouping_of, group{}),
              trie_of(left));
    EXPECT_EQ(sukima::parallel_reduce(
                  c, sukima::set_bits(bits), grouping{"init"},
                  [](std::uint64_t bit) {
                    return slow_grouping_of(static_cast<std::uint64_t>(std::countr_zero(bit)));
                  },
                  group{}),
              trie_of(numbers));
    EXPECT_EQ(sukima::parallel_reduce(
                  c, sukima::set_bits(bits), grouping{"init"},
                  [](context, std::uint64_t bit) {
                    return slow_grouping_of(static_cast<std::uint64_t>(std::countr_zero(bit)));
                  },
                  group{}),
              trie_of(numbers));
  });
}

TEST_P(fixed_order, is_that_of_a_searchs_choices) {
  const std::vector<std::uint64_t> all = numbers_below(90);
  std::vector<std::uint64_t> possible;
  std::ranges::copy_if(all, std::back_inserter(possible), [](std::uint64_t i) { return i % 3 != 1; });
  const auto apply = [](std::uint64_t& sum, std::uint64_t i) {
    if (i % 3 == 1) return false;
    sum += i;
    return true;
  };
  const auto undo = [](std::uint64_t& sum, std::uint64_t i) { sum -= i; };
  const auto body = [](context, std::uint64_t& sum, std::uint64_t i) {
    EXPECT_EQ(sum, 1000 + i);
    return slow_grouping_of(i);
  };
  runtime.run([&](context c) {
    std::uint64_t sum = 1000;
    EXPECT_EQ(sukima::search(c, sum, all, apply, undo, body, grouping{"init"}, group{}), trie_of(possible));
    const std::forward_list<std::uint64_t> list(all.begin(), all.end());
    EXPECT_EQ(sukima::search(c, sum, list, apply, undo, body, grouping{"init"}, group{}), trie_of(possible));
    const std::uint64_t bits = 0x1010f00ff1357u;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t b = bits; b != 0; b &= b - 1)
      numbers.push_back(static_cast<std::uint64_t>(std::countr_zero(b)));
    EXPECT_EQ(sukima::search(
                  c, sum, sukima::set_bits(bits), [](std::uint64_t&, std::uint64_t) {},
                  [](std::uint64_t&, std::uint64_t) {},
                  [](std::uint64_t&, std::uint64_t bit) {
                    return slow_grouping_of(static_cast<std::uint64_t>(std::countr_zero(bit)));
                  },
                  grouping{"init"}, group{}),
              trie_of(numbers));
  });
}

/// The result of a single worker, without any steal.
template <class Run> grouping alone(Run run) {
  sukima::runtime single(support::with_workers(1));
  return single.run(run);
}

TEST_P(fixed_order, of_blocks_folds_and_scans_is_that_of_one_worker) {
  const std::vector<std::uint64_t> all = numbers_below(3000);
  const std::list<std::uint64_t> list(all.begin(), all.end());
  const auto blocks = [](context c) {
    return sukima::parallel_reduce(
        c, sukima::blocked_range(0, 5000), grouping{"init"},
        [](int from, int to) { return slow_grouping_of(static_cast<std::uint64_t>(from * 10000 + to)); },
        group{});
  };
  const auto add = [](grouping& sum, std::uint64_t i) { sum = group{}(sum, slow_grouping_of(i)); };
  const auto fold = [&](context c) { return sukima::parallel_fold(c, all, grouping{"zero"}, add, group{}); };
  const auto fold_list = [&](context c) {
    return sukima::parallel_fold(c, list, grouping{"zero"}, add, group{});
  };
  const auto scan = [](context c) {
    std::vector<grouping> values;
    for (const std::uint64_t i : numbers_below(120)) values.push_back(grouping_of(i));
    const auto slow = [](const grouping& a, const grouping& b) {
      work_a_while();
      return group{}(a, b);
    };
    sukima::parallel_scan(c, values, values.begin(), slow);
    std::vector<grouping> exclusive(values.size());
    sukima::parallel_exclusive_scan(c, values, exclusive.begin(), grouping{"init"}, slow);
    return grouping{values.back().text + exclusive.back().text};
  };
  EXPECT_EQ(runtime.run(blocks), alone(blocks));
  EXPECT_EQ(runtime.run(fold), alone(fold));
  EXPECT_EQ(runtime.run(fold_list), runtime.run(fold));
  EXPECT_EQ(runtime.run(scan), alone(scan));
}

TEST_P(fixed_order, leaves_scans_with_their_results) {
  for (const std::size_t n : {0u, 1u, 2u, 3u, 50u, 1000u, 4097u}) {
    std::vector<double> in(n);
    std::iota(in.begin(), in.end(), 1.0);  // sums of these are exact
    std::vector<double> expected(n);
    std::vector<double> out(n);
    runtime.run([&](context c) { sukima::parallel_scan(c, in, out.begin()); });
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    EXPECT_EQ(out, expected);
    runtime.run([&](context c) { sukima::parallel_exclusive_scan(c, in, out.begin(), 0.5); });
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0.5);
    EXPECT_EQ(out, expected);
  }
}

TEST_P(fixed_order, lets_exceptions_through) {
  const auto throws = [](int i) -> double {
    if (i == 321) throw support::test_error(i);
    return i;
  };
  EXPECT_THROW(
      runtime.run([&](context c) { return sukima::parallel_reduce(c, 0, 1000, 0.0, throws, std::plus{}); }),
      support::test_error);
}

}  // namespace
