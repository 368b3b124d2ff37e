// SPDX-License-Identifier: Apache-2.0
// Floating-point results under hierarchical omission: each node and each run gets the same bits, whatever was
// stolen, given, omitted or lost.
#include "hope_support.hpp"
#include "random_programs.hpp"

#include <sukima/fold.hpp>
#include <sukima/scan.hpp>
#include <sukima/search.hpp>
#include <sukima/set_bits.hpp>

#include <bit>
#include <cmath>
#include <forward_list>
#include <list>
#include <numeric>

namespace {

using namespace hope_support;
using cluster_support::shape;
using random_programs::mixed;
using sukima::call;
using sukima::context;

/// Every result is announced, and a node helps at once with each task that another node claims.
const hope::node_options eager{.before_helping = 0us,
                               .before_going_on = 0us,
                               .before_announcing = 0us,
                               .before_claiming = 0us,
                               .tick = 30us};

/// Summands of very different sizes and both signs, so that each grouping rounds otherwise.
double summand(std::uint64_t i) {
  const std::uint64_t bits = mixed(i);
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), static_cast<int>(bits % 40) - 60);
}
/// Some microseconds, so that others take a part.
double slow_summand(std::uint64_t i) {
  std::uint64_t turns = i;
  for (unsigned k = 0; k < 300; ++k) turns = mixed(turns);
  return turns == i ? 0 : summand(i);
}

double sum_of_calls(context c, int n) {
  return sukima::parallel_reduce(c, std::uint64_t{0}, static_cast<std::uint64_t>(n), 0.25,
                                 call<slow_summand>(), std::plus{});
}
double row(context c, std::uint64_t width, std::uint64_t i) {
  return sukima::parallel_reduce(
      c, std::uint64_t{0}, width, 0.5, [i](context, std::uint64_t k) { return slow_summand(i * 1000 + k); },
      std::plus{});
}
double sum_of_rows(context c, int n) {
  return sukima::parallel_reduce(c, std::uint64_t{0}, static_cast<std::uint64_t>(n), 0.25,
                                 call<row>(std::uint64_t{23}), std::plus{});
}
double sum_of_bits(context c, int n) {
  const std::uint64_t bits = 0xf0f77f0ff00f1357u + static_cast<std::uint64_t>(n);
  return sukima::parallel_reduce(c, sukima::set_bits(bits), 0.25, call<slow_summand>(), std::plus{});
}

struct board {
  std::uint64_t taken;
  std::uint64_t depth;
};
double leaves(context c, board& b) {
  if (b.depth == 4) return slow_summand(b.taken);
  return sukima::search(
      c, b, std::views::iota(0, 6),
      [](board& w, int choice) {
        w.taken = w.taken * 6 + static_cast<unsigned>(choice);
        ++w.depth;
        return (w.taken % 5 != 3) || (w.taken = w.taken / 6, --w.depth, false);
      },
      [](board& w, int) {
        w.taken /= 6;
        --w.depth;
      },
      [](context below, board& w, int) { return leaves(below, w); }, 0.125, std::plus{});
}
double sum_of_leaves(context c, int n) {
  board b{static_cast<std::uint64_t>(n), 0};
  return leaves(c, b);
}
double sum_of_lists(context c, int n) {
  std::list<std::uint64_t> list(static_cast<std::size_t>(n));
  std::iota(list.begin(), list.end(), 3);
  const std::forward_list<std::uint64_t> forward(list.begin(), list.end());
  const std::vector<std::uint64_t> all(list.begin(), list.end());
  const auto add = [](double& sum, std::uint64_t i) { sum += slow_summand(i); };
  std::vector<double> totals(all.size());
  std::ranges::transform(all, totals.begin(), summand);
  sukima::parallel_scan(c, totals, totals.begin());
  return sukima::parallel_reduce(c, list, 0.25, slow_summand, std::plus{}) +
         sukima::parallel_reduce(c, forward, 0.5, slow_summand, std::plus{}) +
         sukima::parallel_fold(c, all, 0.0, add, std::plus{}) +
         sukima::parallel_fold(c, list, 0.0, add, std::plus{}) +
         sukima::parallel_reduce(c, totals, 0.125, [](double x) { return x; }, std::plus{});
}

double all_sums(context c, int n) {
  const auto [calls, rows, bits, found, lists] =
      sukima::fork(c, call<sum_of_calls>(n), call<sum_of_rows>(n / 10), call<sum_of_bits>(n),
                   call<sum_of_leaves>(n), call<sum_of_lists>(n));
  return calls + rows + bits + found + lists;
}

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

template <class Run> void expect_equal_bits(unsigned runs, Run run) {
  std::optional<std::uint64_t> first;
  for (std::uint64_t seed = 1; seed <= runs; ++seed)
    for (const double result : run(seed)) {
      if (!first) first = bits_of(result);
      ASSERT_EQ(bits_of(result), *first) << "seed " << seed;
    }
}

TEST(hope_floats, have_the_same_bits_on_all_nodes_and_in_all_runs) {
  std::uint64_t named = 0;
  expect_equal_bits(12 * ROUNDS, [&](std::uint64_t seed) {
    const auto nodes = static_cast<unsigned>(1 + seed % 4);
    hope_nodes run({.nodes = nodes, .workers = 1 + static_cast<unsigned>(seed / 4 % 3), .seed = seed},
                   seed % 2 == 0 ? eager : hope::node_options{});
    std::vector<double> results = run.everywhere(call<all_sums>(400));
    named += run.sum().named;
    return results;
  });
  EXPECT_GT(named, 0u);
}

TEST(hope_floats, have_the_same_bits_though_nodes_and_messages_are_lost) {
  expect_equal_bits(9 * ROUNDS, [](std::uint64_t seed) {
    std::vector<faults> each(4, {.lost = 100, .doubled = 100, .overtaken = 100});
    each[seed % 4].dies_at = 1 + mixed(seed) % 60;
    hope_nodes run({.nodes = 4, .workers = 1 + static_cast<unsigned>(seed % 2), .seed = seed}, eager, each);
    return run.everywhere(call<all_sums>(300));
  });
}

}  // namespace
