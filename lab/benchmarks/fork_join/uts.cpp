// SPDX-License-Identifier: Apache-2.0
// uts: a parallel choice among the children at every node, or above a cut-off depth.
#include "fork_join/cut_off.hpp"
#include "harness/harness.hpp"
#include "sequential/searches.hpp"
#include "system.hpp"

namespace {

using kernels::uts_node;
using kernels::uts_tree;

template <class CutOff>
std::int64_t nodes(auto c, const uts_tree& tree, const uts_node& node, CutOff end) {
  if (end.reached(node.height)) return sequential::nodes(tree, node);
  return 1 + c.template sum<std::int64_t>(
                 0, kernels::uts_children(tree, node), [](int) { return true; },
                 [&tree, &node, end](auto below, int i) {
                   return nodes(below, tree, kernels::uts_child(node, i), end);
                 });
}

template <class CutOff>
void measure(bench::run& run, CutOff end) {
  const uts_tree tree = kernels::published_tree(run.size());
  if (tree.seed == 0) throw bench::bad_argument(kernels::uts_sizes);
  std::int64_t result = 0;
  run.time([&] { region([&](auto c) { result = nodes(c, tree, kernels::uts_root(tree), end); }); });
  run.result(result);
}

const bench::registration registered{"uts", [](bench::run& run) { measure(run, no_cut_off{}); }};
const bench::tuned_registration tuned{"uts", [](bench::run& run) { measure(run, cut_off{run.depth()}); }};

}  // namespace
