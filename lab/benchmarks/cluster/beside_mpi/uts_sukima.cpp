// SPDX-License-Identifier: Apache-2.0
// The nodes of an unbalanced tree: sukima cluster run -n 4 -- uts-sukima NUMBER
#include "cluster/beside_mpi/arguments.hpp"
#include "kernels/uts.hpp"

#include <sukima/cluster.hpp>

#include <cstdio>
#include <functional>

using kernels::uts_node, kernels::uts_tree;

std::int64_t below_child(sukima::context c, const uts_tree& tree, const uts_node& parent, int i) {
  const uts_node node = kernels::uts_child(parent, i);
  return 1 + sukima::parallel_reduce(c, 0, kernels::uts_children(tree, node), std::int64_t{0},
                                     sukima::call<below_child>(tree, node), std::plus{});
}
std::int64_t nodes(sukima::context c, const uts_tree& tree) {
  const uts_node root = kernels::uts_root(tree);
  return 1 + sukima::parallel_reduce(c, 0, kernels::uts_children(tree, root), std::int64_t{0},
                                     sukima::call<below_child>(tree, root), std::plus{});
}

int main(int count, char** words) {
  const uts_tree tree = tree_of(count, words);
  std::printf("%lld\n", static_cast<long long>(sukima::cluster::run(sukima::call<nodes>(tree))));
}
