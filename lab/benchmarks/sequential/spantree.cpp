// SPDX-License-Identifier: Apache-2.0
// spantree: depth-first with one stack of pending vertices.
#include "kernels/spantree.hpp"

#include "harness/harness.hpp"

namespace {

using kernels::no_vertex;
using kernels::vertex;

void search(const kernels::graph& g, std::vector<vertex>& parent) {
  std::vector<vertex> pending{0};
  while (!pending.empty()) {
    const vertex v = pending.back();
    pending.pop_back();
    for (const vertex u : g.neighbours(v))
      if (parent[u] == no_vertex) parent[u] = v, pending.push_back(u);
  }
}

void measure(bench::run& run) {
  const kernels::graph g(static_cast<std::size_t>(run.size_between(1, 1 << 27)));
  std::vector<vertex> parent(g.vertices(), no_vertex);
  parent[0] = 0;
  run.time([&] { search(g, parent); });
  if (const auto fault = g.fault(parent); !fault.empty()) throw bench::wrong_result(fault);
  run.result(g.vertices());
}

const bench::registration registered{"spantree", measure};

}  // namespace
