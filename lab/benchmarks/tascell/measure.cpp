// SPDX-License-Identifier: Apache-2.0
// The benchmarks of the Tascell language: data and checks are those of the C++ programs.
#include "harness/harness.hpp"
#include "kernels/cmp.hpp"
#include "kernels/grav.hpp"
#include "kernels/itemsets.hpp"
#include "kernels/matrix.hpp"
#include "kernels/sort.hpp"
#include "kernels/spantree.hpp"
#include "kernels/uts.hpp"
#include "problems.h"

#include <bit>
#include <vector>

namespace {

using kernels::matrix;
using kernels::view;

rectangle of(const view& v) { return {v.data, v.stride, v.rows, v.columns}; }

template <auto Function, int least, int most>
void count(bench::run& run) {
  const int n = run.size_between(least, most);
  std::int64_t result = 0;
  run.time([&] { result = Function(n); });
  run.result(result);
}

void cmp(bench::run& run) {
  const kernels::cmp_problem p(static_cast<std::size_t>(run.size_between(1, 1 << 24)));
  std::int64_t result = 0;
  run.time([&] { result = tascell_cmp(p.a.data(), p.a.size(), p.b.data(), p.b.size()); });
  if (result != p.expected()) throw bench::wrong_result("wrong number of pairs " + std::to_string(result));
  run.result(result);
}

void grav(bench::run& run) {
  const int n = run.size_between(0, 2000);
  force3 f{};
  run.time([&] { f = tascell_grav(n); });
  run.result(as_text(kernels::force{f.x, f.y, f.z}));
}

std::size_t side(const bench::run& run) {
  const int size = run.size_between(64, 16384);
  if (size % leaf_side != 0) throw bench::bad_argument("the size must be a multiple of 64");
  return static_cast<std::size_t>(size);
}

void matmul(bench::run& run) {
  const std::size_t n = side(run);
  matrix a(n, 1, 0), b(n, 2, 0), c(n);
  run.time([&] { tascell_multiply(of(c.all()), of(a.all()), of(b.all())); });
  const auto x = kernels::probe(n);
  if (!(kernels::relative_difference(a.times(b.times(x)), c.times(x)) < 1e-10))
    throw bench::wrong_result("the product is wrong");
  run.result(kernels::six_digits(c(n / 3, n / 2)));
}

void lu(bench::run& run) {
  const std::size_t n = side(run);
  matrix a(n, 3, static_cast<double>(n));
  const auto x = kernels::probe(n);
  const auto expected = a.times(x);
  run.time([&] { tascell_factorise(of(a.all())); });
  if (!(kernels::relative_difference(expected, kernels::product_of_factors(a, x)) < 1e-10))
    throw bench::wrong_result("the factors' product is not the matrix");
  run.result(kernels::six_digits(a(n - 1, n - 1)));
}

void uts(bench::run& run) {
  const kernels::uts_tree tree = kernels::published_tree(run.size());
  if (tree.seed == 0) throw bench::bad_argument(kernels::uts_sizes);
  std::int64_t result = 0;
  run.time([&] {
    const auto root = std::bit_cast<tree_node>(kernels::uts_root(tree));
    result = tascell_nodes(&tree, &root);
  });
  run.result(result);
}

void sort(bench::run& run) {
  kernels::sort_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 30)));
  run.time([&] { tascell_sort(problem.data.data(), problem.buffer.data(), problem.data.size()); });
  if (!problem.sorted()) throw bench::wrong_result("the numbers are not in order");
  run.result(std::to_string(problem.sum));
}

void spantree(bench::run& run) {
  const kernels::graph g(static_cast<std::size_t>(run.size_between(1, 1 << 27)));
  std::vector<kernels::vertex> parent(g.vertices(), kernels::no_vertex);
  parent[0] = 0;
  run.time([&] { tascell_spanning_tree(g.first().data(), g.all_neighbours().data(), parent.data()); });
  if (const auto fault = g.fault(parent); !fault.empty()) throw bench::wrong_result(fault);
  run.result(g.vertices());
}

void itemsets(bench::run& run) {
  const kernels::item_graph graph(run.size_between(1, kernels::most_item_vertices));
  kernels::growing_subgraph empty(graph);
  subgraphs found{};
  run.time([&] { found = tascell_itemsets(&empty); });
  run.result(std::bit_cast<kernels::found_subgraphs>(found).text());
}

const bench::registration registered[]{{"fib", count<tascell_fib, 0, 60>},
                                       {"nqueens", count<tascell_queens, 1, 20>},
                                       {"nqueens-array", count<tascell_queens_array, 1, 20>},
                                       {"pentomino", count<tascell_pentomino, 12, 20>},
                                       {"cmp", cmp},
                                       {"grav", grav},
                                       {"matmul", matmul},
                                       {"lu", lu},
                                       {"uts", uts},
                                       {"sort", sort},
                                       {"spantree", spantree},
                                       {"itemsets", itemsets}};

}  // namespace
