// SPDX-License-Identifier: Apache-2.0
// itemsets for systems without undo: a parallel choice among the neighbours at every node, each with a copy
// of the subgraph.
#include "kernels/itemsets.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::found_subgraphs;
using kernels::growing_subgraph;

found_subgraphs closed_subgraphs(auto c, growing_subgraph& at) {
  const auto candidates = at.candidates();
  found_subgraphs found = at.itself();
  const growing_subgraph& before = at;  // what the choices, at the same time, copy
  found += c.template sum<found_subgraphs>(
      0, static_cast<int>(candidates.size()), [](int) { return true; },
      [&before, &candidates](auto below, int i) -> found_subgraphs {
        growing_subgraph next = before;
        for (int j = 0; j < i; ++j) next.exclude(candidates[static_cast<unsigned>(j)]);
        return next.add(candidates[static_cast<unsigned>(i)]) ? closed_subgraphs(below, next)
                                                              : found_subgraphs{};
      });
  return found;
}

void measure(bench::run& run) {
  const kernels::item_graph graph(run.size_between(1, kernels::most_item_vertices));
  growing_subgraph empty(graph);
  found_subgraphs result;
  run.time([&] { region([&](auto c) { result = closed_subgraphs(c, empty); }); });
  run.result(result.text());
}

const bench::registration registered{"itemsets", measure};

}  // namespace
