// SPDX-License-Identifier: Apache-2.0
// uts: a parallel choice among the children at every node.
#include "kernels/uts.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::uts_node;
using kernels::uts_tree;

std::int64_t nodes(context c, const uts_tree& tree, const uts_node& node) {
  return 1 + c.sum<std::int64_t>(
                 0, kernels::uts_children(tree, node), [](int) { return true; },
                 [&tree, &node](context below, int i) {
                   return nodes(below, tree, kernels::uts_child(node, i));
                 });
}

void measure(bench::run& run) {
  const uts_tree tree = kernels::published_tree(run.size());
  if (tree.seed == 0) throw bench::bad_argument(kernels::uts_sizes);
  std::int64_t result = 0;
  run.time([&] { region([&](context c) { result = nodes(c, tree, kernels::uts_root(tree)); }); });
  run.result(result);
}

const bench::registration registered{"uts", measure};

}  // namespace
