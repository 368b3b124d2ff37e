// SPDX-License-Identifier: Apache-2.0
// Tests of the benchmarks' problems: known values, and checks that do find faults.
#include <gtest/gtest.h>

#include "harness/batches.hpp"
#include "kernels/cmp.hpp"
#include "kernels/grav.hpp"
#include "kernels/matrix.hpp"
#include "kernels/nqueens.hpp"
#include "kernels/nqueens_array.hpp"
#include "kernels/pentomino.hpp"
#include "kernels/saxpy.hpp"
#include "kernels/sha1.hpp"
#include "kernels/sort.hpp"
#include "kernels/spantree.hpp"
#include "kernels/uts.hpp"

// What harness/batches.hpp needs of the harness, without its main.
double bench::wall_seconds() { return 0; }
double bench::process_cpu_seconds() { return 0; }

namespace {

TEST(random_numbers, are_those_of_splitmix64) {
  kernels::random_numbers random(1234567);
  EXPECT_EQ(random.bits(), 6457827717110365317U);
  EXPECT_EQ(random.bits(), 3203168211198807973U);
}

TEST(random_numbers, stay_below_their_bound) {
  kernels::random_numbers random(1);
  bool seen[3] = {};
  for (int i = 0; i < 100; ++i) seen[random.below(3)] = true;
  EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
  for (int i = 0; i < 100; ++i) {
    const double x = random.real();
    EXPECT_TRUE(x >= 0 && x < 1);
  }
}

TEST(sha1, digest_of_twenty_four_bytes) {
  // "abcdefghijklmnopqrstuvwx"
  const auto digest = kernels::sha1_of_words<6>(
      {0x61626364U, 0x65666768U, 0x696a6b6cU, 0x6d6e6f70U, 0x71727374U, 0x75767778U});
  EXPECT_EQ(digest, (kernels::sha1_digest{0xd717e22eU, 0x1659305fU, 0xad6ef088U, 0x64923db6U, 0x4aba9c08U}));
}

TEST(uts, root_and_children_of_the_published_trees) {
  const auto t3 = kernels::published_tree(3);
  EXPECT_EQ(kernels::uts_children(t3, kernels::uts_root(t3)), 2000);
  int with_children = 0;
  for (int i = 0; i < 2000; ++i) {
    const int children = kernels::uts_children(t3, kernels::uts_child(kernels::uts_root(t3), i));
    EXPECT_TRUE(children == 0 || children == 8);
    with_children += children == 8;
  }
  EXPECT_NEAR(with_children, 2000 * 0.124875, 60);
  EXPECT_EQ(kernels::published_tree(4).seed, 0U);
}

TEST(queens, both_boards_allow_the_same_moves) {
  kernels::queens bits = kernels::queens::empty(8);
  kernels::queens_board board(8);
  const int placed[] = {0, 4, 7, 5};
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 8; ++column)
      EXPECT_EQ(board.free(row, column), (bits.free() >> column & 1) == 1) << row << " " << column;
    EXPECT_EQ(bits.free() >> 8, 0U) << "columns beyond the board, row " << row;
    bits = bits.with(1U << placed[row]);
    board.place(row, placed[row]);
  }
}

TEST(queens, removing_makes_a_place_free_again) {
  kernels::queens_board board(8);
  board.place(0, 3);
  EXPECT_FALSE(board.free(1, 3));
  EXPECT_FALSE(board.free(1, 4));
  EXPECT_FALSE(board.free(1, 2));
  board.remove(0, 3);
  for (int column = 0; column < 8; ++column) EXPECT_TRUE(board.free(1, column));
}

TEST(pentomino, the_twelve_pieces_have_63_orientations_of_five_cells) {
  int forms = 0;
  for (const auto& piece : kernels::pentomino_pieces) {
    forms += piece.forms;
    for (int i = 0; i < piece.forms; ++i)
      EXPECT_EQ(std::popcount(piece.form[static_cast<unsigned>(i)].mask), 5);
  }
  EXPECT_EQ(forms, 63);
}

TEST(pentomino, a_board_has_five_cells_for_each_piece) {
  for (int n = 12; n <= 20; ++n) {
    const kernels::pentomino_board board(n);
    int free = 0;
    for (const auto colour : board.colour) free += colour == 0;
    EXPECT_EQ(free, 5 * n);
    EXPECT_EQ(board.forms(n - 1).forms, n == 12 ? 4 : 2);  // the T; then straight ones
  }
}

TEST(pentomino, removing_takes_a_placement_back) {
  kernels::pentomino_board board(12);
  const kernels::pentomino_board before = board;
  const auto orientation = board.forms(4).form[0];
  board.place(0, 0, 4, orientation);
  EXPECT_NE(board.full, before.full);
  EXPECT_EQ(board.piece[0], 4);
  EXPECT_GT(board.first_free(0), 0);
  board.remove(0, 0, 4, orientation);
  EXPECT_EQ(board.full, before.full);
  EXPECT_EQ(board.piece, before.piece);
  EXPECT_EQ(board.colour, before.colour);
}

TEST(pentomino, a_hole_of_one_or_two_cells_is_hopeless) {
  kernels::pentomino_board board(12);
  EXPECT_FALSE(board.hopeless(0));
  const auto fill = [&](int cell) { board.full |= kernels::cell_set{1} << cell; };
  fill(7);
  EXPECT_FALSE(board.hopeless(0));
  fill(2);
  EXPECT_FALSE(board.hopeless(0));  // 0 and 1, and on downwards from 1
  fill(8);
  EXPECT_TRUE(board.hopeless(0));
  board.full &= ~(kernels::cell_set{1} << 2);
  EXPECT_FALSE(board.hopeless(0));
  fill(1);
  EXPECT_TRUE(board.hopeless(0));
}

TEST(matrix, a_block_product_is_that_of_the_definition) {
  constexpr std::size_t n = 8;
  kernels::matrix a(n, 1, 0), b(n, 2, 0), plus(n), minus(n);
  kernels::multiply_block<1>(plus.all(), a.all(), b.all());
  kernels::multiply_block<-1>(minus.all(), a.all(), b.all());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a(i, k) * b(k, j);
      EXPECT_NEAR(plus(i, j), sum, 1e-14);
      EXPECT_NEAR(minus(i, j), -sum, 1e-14);
    }
}

TEST(matrix, factors_and_solutions_multiply_back) {
  constexpr std::size_t n = 16;
  kernels::matrix a(n, 3, 16), lu = a, b(n, 4, 0), lower = b, upper = b;
  kernels::factorise_block(lu.all());
  kernels::solve_lower_block(lu.all(), lower.all());
  kernels::solve_upper_block(lu.all(), upper.all());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double product = 0, from_lower = 0, from_upper = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const double l = k < i ? lu(i, k) : (k == i ? 1 : 0), u = k <= j ? lu(k, j) : 0;
        product += l * u;
        from_lower += l * lower(k, j);
        from_upper += upper(i, k) * u;
      }
      EXPECT_NEAR(product, a(i, j), 1e-12);
      EXPECT_NEAR(from_lower, b(i, j), 1e-12);
      EXPECT_NEAR(from_upper, b(i, j), 1e-12);
    }
}

TEST(matrix, sides_are_cut_at_whole_blocks) {
  EXPECT_EQ(kernels::cut(128), 64U);
  EXPECT_EQ(kernels::cut(192), 128U);
  EXPECT_EQ(kernels::cut(1024), 512U);
}

TEST(matrix, a_wrong_element_is_a_difference) {
  EXPECT_EQ(kernels::relative_difference({1, -4}, {1, -4}), 0);
  EXPECT_EQ(kernels::relative_difference({1, -4}, {2, -4}), 0.25);
}

TEST(cmp, counts_equal_pairs) {
  const std::uint32_t a[] = {1, 2, 2, 3}, b[] = {2, 2, 3, 9};
  EXPECT_EQ(kernels::equal_pairs(a, b), 5);
  const kernels::cmp_problem problem(500);
  EXPECT_EQ(kernels::equal_pairs(problem.a, problem.b), problem.expected());
  EXPECT_GT(problem.expected(), 0);
}

TEST(grav, a_far_lattice_attracts_like_its_mass_in_one_point) {
  const kernels::grav_problem g{1};
  kernels::force sum;
  for (int x = -1; x <= 1; ++x)
    for (int y = -1; y <= 1; ++y) sum += g.line(x, y);
  const double d2 = g.px() * g.px() + g.py() * g.py() + g.pz() * g.pz();
  const double expected = 27 / (d2 * std::sqrt(d2));
  EXPECT_NEAR(sum.x, -g.px() * expected, 0.05 * g.px() * expected);
  EXPECT_NEAR(sum.y, -g.py() * expected, 0.05 * g.py() * expected);
  EXPECT_NEAR(sum.z, -g.pz() * expected, 0.05 * g.pz() * expected);
}

TEST(sort, sorts_all_lengths_into_both_places) {
  for (const std::size_t n : {0U, 1U, 2U, 24U, 25U, 100U, 1001U}) {
    kernels::sort_problem here(n), there(n);
    kernels::sort_run(here.data, here.buffer, false);
    EXPECT_TRUE(here.sorted()) << n;
    kernels::sort_run(there.data, there.buffer, true);
    EXPECT_EQ(there.buffer, here.data) << n;
  }
}

TEST(sort, the_check_finds_disorder_and_loss) {
  kernels::sort_problem problem(100);
  EXPECT_FALSE(problem.sorted());
  kernels::sort_run(problem.data, problem.buffer, false);
  EXPECT_TRUE(problem.sorted());
  problem.data[0] = problem.data[1];
  EXPECT_FALSE(problem.sorted());
}

TEST(spantree, edges_go_both_ways) {
  const kernels::graph g(200);
  std::size_t ends = 0;
  for (kernels::vertex v = 0; v < g.vertices(); ++v) {
    ends += g.neighbours(v).size();
    for (const auto u : g.neighbours(v)) {
      const auto back = g.neighbours(u);
      EXPECT_NE(std::find(back.begin(), back.end(), v), back.end());
    }
  }
  EXPECT_EQ(ends, 2 * 4 * 200U);
}

TEST(spantree, the_check_finds_graphs_that_are_not_trees) {
  const kernels::graph g(200);
  std::vector<kernels::vertex> parent(g.vertices(), kernels::no_vertex);
  parent[0] = 0;
  EXPECT_NE(g.fault(parent), "");  // no parents
  std::vector<kernels::vertex> pending{0};
  while (!pending.empty()) {
    const auto v = pending.back();
    pending.pop_back();
    for (const auto u : g.neighbours(v))
      if (parent[u] == kernels::no_vertex) parent[u] = v, pending.push_back(u);
  }
  EXPECT_EQ(g.fault(parent), "");

  auto circle = parent;
  const auto child = static_cast<kernels::vertex>(
      std::find_if(parent.begin() + 1, parent.end(), [](auto p) { return p != 0; }) - parent.begin());
  circle[circle[child]] = child;  // neighbours, each the other's parent
  EXPECT_NE(g.fault(circle), "");

  auto no_edge = parent;
  for (kernels::vertex u = 1; u < g.vertices(); ++u) {
    const auto near = g.neighbours(child);
    if (std::find(near.begin(), near.end(), u) == near.end()) no_edge[child] = u;
  }
  EXPECT_NE(g.fault(no_edge), "");

  auto rootless = parent;
  rootless[0] = 1;
  EXPECT_NE(g.fault(rootless), "");
}

TEST(saxpy, the_check_wants_every_call) {
  kernels::saxpy_problem p(100'000);
  EXPECT_FALSE(p.right());
  for (std::size_t call = 0; call < p.calls(); ++call)
    for (std::size_t i = 0; i < p.x.size(); ++i) p.y[i] += p.a * p.x[i];
  EXPECT_TRUE(p.right());
  EXPECT_EQ(p.calls() % p.batch(), 0U);
}

TEST(quantile, is_the_nearest_rank) {
  EXPECT_EQ(bench::quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(bench::quantile({3, 1, 2}, 1), 3);
  EXPECT_EQ(bench::quantile({3, 1, 2}, 0), 1);
  EXPECT_EQ(bench::quantile({7}, 0.99), 7);
}

}  // namespace
