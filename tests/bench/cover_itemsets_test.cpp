// SPDX-License-Identifier: Apache-2.0
// Tests of the problems of cover and itemsets: against known counts, other orders, and all subsets tried.
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cover.hpp"
#include "kernels/itemsets.hpp"

namespace {

using kernels::exact_cover;
using kernels::found_subgraphs;
using kernels::growing_subgraph;
using kernels::item_graph;

// The options from the last to the first and each on a copy of its own, as thieves may do it.
std::int64_t covers_backwards(const exact_cover& state) {
  if (state.complete()) return 1;
  const kernels::possible_options options(state);
  std::int64_t sum = 0;
  for (std::size_t i = options.all().size(); i-- > 0;) {
    exact_cover next = state;
    if (next.choose(options.all()[i])) sum += covers_backwards(next);
  }
  return sum;
}

std::int64_t covers_in_place(exact_cover& state) {
  if (state.complete()) return 1;
  std::int64_t sum = 0;
  for (auto option = state.first_option(); option != 0; option = state.next_option(option)) {
    if (!state.choose(option)) continue;
    sum += covers_in_place(state);
    state.take_back(option);
  }
  return sum;
}

TEST(cover, langford_s_problem_has_the_published_counts) {
  const std::int64_t published[] = {0, 0, 1, 1, 0, 0, 26, 150, 0, 0};
  for (int n = 1; n <= 10; ++n) {
    exact_cover state = kernels::langford(n);
    EXPECT_EQ(state.begin() ? covers_in_place(state) : 0, published[n - 1]) << n;
  }
}

TEST(cover, copies_and_another_order_find_the_same_and_a_search_leaves_no_trace) {
  exact_cover state = kernels::langford(8);
  ASSERT_TRUE(state.begin());
  EXPECT_EQ(covers_backwards(state), 150);
  EXPECT_EQ(covers_in_place(state), 150);
  EXPECT_EQ(covers_in_place(state), 150);
}

TEST(cover, options_of_different_lengths) {
  // Seven items; the example of Knuth's paper, which has the one cover {1 4} {3 5 6} {2 7}.
  exact_cover state(7);
  state.add_option({3, 5, 6});
  state.add_option({1, 4, 7});
  state.add_option({2, 3, 6});
  state.add_option({1, 4});
  state.add_option({2, 7});
  state.add_option({4, 5, 7});
  ASSERT_TRUE(state.begin());
  EXPECT_EQ(covers_in_place(state), 1);
  EXPECT_EQ(covers_backwards(state), 1);
}

TEST(cover, an_item_without_options_has_no_cover) {
  exact_cover state(2);
  state.add_option({1});
  EXPECT_FALSE(state.begin());
}

// The neighbours in that order, each on a copy.
found_subgraphs subgraphs(const growing_subgraph& at, bool backwards) {
  found_subgraphs found = at.itself();
  growing_subgraph asked = at;
  auto candidates = asked.candidates();
  if (backwards) candidates = {candidates.rbegin(), candidates.rend()};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    growing_subgraph next = at;
    for (std::size_t j = 0; j < i; ++j) next.exclude(candidates[j]);
    if (next.add(candidates[i])) found += subgraphs(next, backwards);
  }
  return found;
}

std::uint32_t bit(item_graph::vertex v) { return std::uint32_t{1} << v; }

// Of all sets of vertices, those that are connected, have enough in common, and cannot grow for nothing.
std::int64_t closed_among_all(const item_graph& graph) {
  const auto vertices = static_cast<item_graph::vertex>(graph.items.size());
  std::int64_t count = 0;
  for (std::uint32_t set = 1; set < bit(vertices); ++set) {
    std::uint64_t common = ~std::uint64_t{0};
    std::uint32_t reached = set & (~set + 1), around = 0;
    for (item_graph::vertex v = 0; v < vertices; ++v)
      if (set & bit(v)) common &= graph.items[static_cast<std::size_t>(v)];
    for (std::uint32_t before = 0; before != reached;) {
      before = reached;
      for (item_graph::vertex v = 0; v < vertices; ++v) {
        if (!(reached & bit(v))) continue;
        for (const auto w : graph.neighbours[static_cast<std::size_t>(v)])
          (set & bit(w) ? reached : around) |= bit(w);
      }
    }
    bool closed = reached == set && std::popcount(common) >= graph.least_common;
    for (item_graph::vertex v = 0; v < vertices; ++v)
      if ((around & bit(v)) && !(common & ~graph.items[static_cast<std::size_t>(v)])) closed = false;
    count += closed;
  }
  return count;
}

TEST(itemsets, every_closed_connected_subgraph_is_found_once) {
  for (int vertices = 1; vertices <= 13; ++vertices) {
    for (const int common : {0, 10, 16, 22}) {
      item_graph graph(vertices);
      graph.least_common = common;
      EXPECT_EQ(subgraphs(growing_subgraph(graph), false).count, closed_among_all(graph))
          << vertices << " vertices, " << common << " items";
    }
  }
}

TEST(itemsets, the_order_changes_neither_count_nor_hash) {
  const item_graph graph(100);
  const growing_subgraph empty(graph);
  EXPECT_EQ(subgraphs(empty, false).text(), "9081 6904198797538273794");
  EXPECT_EQ(subgraphs(empty, true).text(), "9081 6904198797538273794");
}

TEST(itemsets, a_closing_that_meets_an_excluded_vertex_changes_nothing) {
  // Two joined vertices with the same items: neither is closed without the other.
  item_graph graph(2);
  graph.items[1] = graph.items[0];
  growing_subgraph state(graph);
  state.exclude(1);
  EXPECT_FALSE(state.add(0));
  EXPECT_EQ(state.size().members, 0U);
  EXPECT_EQ(state.size().common, ~std::uint64_t{0});
  state.allow(1);
  EXPECT_TRUE(state.add(0));
  EXPECT_EQ(state.size().members, 2U);
}

}  // namespace
