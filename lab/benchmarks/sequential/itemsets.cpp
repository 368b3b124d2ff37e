// SPDX-License-Identifier: Apache-2.0
// itemsets: one subgraph that grows and shrinks; a neighbour is excluded after its turn.
#include "kernels/itemsets.hpp"

#include "harness/harness.hpp"

namespace {

using kernels::found_subgraphs;
using kernels::growing_subgraph;

found_subgraphs closed_subgraphs(growing_subgraph& at) {
  found_subgraphs found = at.itself();
  const auto candidates = at.candidates();
  const auto before = at.size();
  for (const auto v : candidates) {
    if (at.add(v)) {
      found += closed_subgraphs(at);
      at.shrink(before);
    }
    at.exclude(v);
  }
  for (const auto v : candidates) at.allow(v);
  return found;
}

void measure(bench::run& run) {
  const kernels::item_graph graph(run.size_between(1, kernels::most_item_vertices));
  growing_subgraph empty(graph);
  found_subgraphs result;
  run.time([&] { result = closed_subgraphs(empty); });
  run.result(result.text());
}

const bench::registration registered{"itemsets", measure};

}  // namespace
