// SPDX-License-Identifier: Apache-2.0
// uts: the plain recursion.
#include "harness/harness.hpp"
#include "sequential/searches.hpp"

namespace {

void measure(bench::run& run) {
  const kernels::uts_tree tree = kernels::published_tree(run.size());
  if (tree.seed == 0) throw bench::bad_argument(kernels::uts_sizes);
  std::int64_t result = 0;
  run.time([&] { result = sequential::nodes(tree, kernels::uts_root(tree)); });
  run.result(result);
}

const bench::registration registered{"uts", measure};

}  // namespace
