// SPDX-License-Identifier: Apache-2.0
// itemsets: one subgraph a worker, which grows and shrinks; a search among the neighbours at every node.
#include "kernels/itemsets.hpp"

#include <ranges>

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::found_subgraphs;
using kernels::growing_subgraph;

found_subgraphs closed_subgraphs(auto c, growing_subgraph& at) {
  const auto candidates = at.candidates();
  const auto before = at.size();
  const auto vertex = [&candidates](int i) { return candidates[static_cast<unsigned>(i)]; };
  // Each applied choice excludes the choices before it, so that any worker can apply it alone.
  return sukima::search(
      c, at, std::views::iota(0, static_cast<int>(candidates.size())),
      [&](growing_subgraph& g, int i) {
        for (int j = 0; j < i; ++j) g.exclude(vertex(j));
        if (g.add(vertex(i))) return true;
        for (int j = 0; j < i; ++j) g.allow(vertex(j));
        return false;
      },
      [&](growing_subgraph& g, int i) {
        g.shrink(before);
        for (int j = 0; j < i; ++j) g.allow(vertex(j));
      },
      [](auto below, growing_subgraph& g, int) { return closed_subgraphs(below, g); }, at.itself(),
      std::plus{});
}

void measure(bench::run& run) {
  const kernels::item_graph graph(run.size_between(1, kernels::most_item_vertices));
  growing_subgraph empty(graph);
  found_subgraphs result;
  run.time(
      [&] { result = system_runtime().run([&](sukima::context c) { return closed_subgraphs(c, empty); }); });
  run.result(result.text());
}

const bench::registration registered{"itemsets", measure};

}  // namespace
