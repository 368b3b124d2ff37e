// SPDX-License-Identifier: Apache-2.0
// The leaves of the programs in the Tascell language: the functions of kernels/, as C calls them.
#include "kernels/cmp.hpp"
#include "kernels/grav.hpp"
#include "kernels/itemsets.hpp"
#include "kernels/matrix.hpp"
#include "kernels/sort.hpp"
#include "kernels/spantree.hpp"
#include "kernels/uts.hpp"
#include "problems.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

namespace {

using kernels::growing_subgraph;

static_assert(leaf_elements == kernels::cmp_leaf && leaf_side == kernels::block);
static_assert(sorted_elements == kernels::sort_leaf && merged_elements == kernels::merge_leaf);
static_assert(shared_vertices == kernels::spantree_share);

kernels::view of(const rectangle& r) { return {r.data, r.stride, r.rows, r.columns}; }
growing_subgraph& growing(void* subgraph) { return *static_cast<growing_subgraph*>(subgraph); }
const growing_subgraph& growing(const void* subgraph) {
  return *static_cast<const growing_subgraph*>(subgraph);
}

}  // namespace

std::int64_t leaf_pairs(const std::uint32_t* a, std::size_t a_size, const std::uint32_t* b,
                        std::size_t b_size) {
  return kernels::equal_pairs({a, a_size}, {b, b_size});
}
force3 leaf_line(int n, int x, int y) {
  const kernels::force f = kernels::grav_problem{n}.line(x, y);
  return {f.x, f.y, f.z};
}
void leaf_multiply(int sign, const rectangle* c, const rectangle* a, const rectangle* b) {
  sign > 0 ? kernels::multiply_block<1>(of(*c), of(*a), of(*b))
           : kernels::multiply_block<-1>(of(*c), of(*a), of(*b));
}
void leaf_factorise(const rectangle* a) { kernels::factorise_block(of(*a)); }
void leaf_solve_lower(const rectangle* l, const rectangle* b) { kernels::solve_lower_block(of(*l), of(*b)); }
void leaf_solve_upper(const rectangle* u, const rectangle* b) { kernels::solve_upper_block(of(*u), of(*b)); }

int leaf_children(const void* tree, const tree_node* node) {
  return kernels::uts_children(*static_cast<const kernels::uts_tree*>(tree),
                               std::bit_cast<kernels::uts_node>(*node));
}
tree_node leaf_child(const tree_node* parent, int number) {
  return std::bit_cast<tree_node>(kernels::uts_child(std::bit_cast<kernels::uts_node>(*parent), number));
}

void leaf_sort(std::uint32_t* a, std::uint32_t* buffer, std::size_t n, int into_buffer) {
  kernels::sort_run({a, n}, {buffer, n}, into_buffer != 0);
}
void leaf_merge(const std::uint32_t* a, std::size_t a_size, const std::uint32_t* b, std::size_t b_size,
                std::uint32_t* to) {
  kernels::merge_run(a, a + a_size, b, b + b_size, to);
}

std::int32_t* leaf_candidates(void* subgraph, int* count) {
  const auto found = growing(subgraph).candidates();
  *count = static_cast<int>(found.size());
  if (found.empty()) return nullptr;
  auto* const list = static_cast<std::int32_t*>(std::malloc(found.size() * sizeof(std::int32_t)));
  if (list == nullptr) {
    std::fprintf(stderr, "itemsets: no memory for %d candidates\n", *count);
    std::exit(1);
  }
  std::copy(found.begin(), found.end(), list);
  return list;
}
subgraph_size leaf_size(const void* subgraph) {
  return std::bit_cast<subgraph_size>(growing(subgraph).size());
}
int leaf_add(void* subgraph, const std::int32_t* candidates, int i) {
  auto& g = growing(subgraph);
  for (int j = 0; j < i; ++j) g.exclude(candidates[j]);
  if (g.add(candidates[i])) return 1;
  for (int j = 0; j < i; ++j) g.allow(candidates[j]);
  return 0;
}
void leaf_remove(void* subgraph, subgraph_size before, const std::int32_t* candidates, int i) {
  auto& g = growing(subgraph);
  g.shrink(std::bit_cast<growing_subgraph::size_before>(before));
  for (int j = 0; j < i; ++j) g.allow(candidates[j]);
}
subgraphs leaf_itself(const void* subgraph) { return std::bit_cast<subgraphs>(growing(subgraph).itself()); }
void* leaf_copy(const void* subgraph) { return new growing_subgraph(growing(subgraph)); }
void leaf_delete(void* subgraph) { delete &growing(subgraph); }
