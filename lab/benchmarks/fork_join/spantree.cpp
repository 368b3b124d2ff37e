// SPDX-License-Identifier: Apache-2.0
// spantree: searchers with a stack of pending vertices each; one that has plenty forks half of them off.
#include "kernels/spantree.hpp"

#include <atomic>

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::graph;
using kernels::no_vertex;
using kernels::vertex;

void search(auto c, const graph& g, std::vector<vertex>& parent, std::vector<vertex> pending) {
  while (!pending.empty()) {
    const vertex v = pending.back();
    pending.pop_back();
    for (const vertex u : g.neighbours(v)) {
      // Relaxed: a vertex's parent is the only thing that searchers exchange; the join publishes the
      // tree.
      std::atomic_ref<vertex> entry(parent[u]);
      vertex none = no_vertex;
      if (entry.load(std::memory_order_relaxed) == no_vertex &&
          entry.compare_exchange_strong(none, v, std::memory_order_relaxed))
        pending.push_back(u);
    }
    if (pending.size() > 2 * kernels::spantree_share) {
      const auto middle = pending.begin() + static_cast<std::ptrdiff_t>(pending.size() / 2);
      std::vector<vertex> newer(middle, pending.end());
      pending.erase(middle, pending.end());  // the older half stays where it is
      c.fork2([&](auto below) { search(below, g, parent, std::move(newer)); },
              [&](auto below) { search(below, g, parent, std::move(pending)); });
      return;
    }
  }
}

void measure(bench::run& run) {
  const graph g(static_cast<std::size_t>(run.size_between(1, 1 << 27)));
  std::vector<vertex> parent(g.vertices(), no_vertex);
  parent[0] = 0;
  run.time([&] { region([&](auto c) { search(c, g, parent, {0}); }); });
  if (const auto fault = g.fault(parent); !fault.empty()) throw bench::wrong_result(fault);
  run.result(g.vertices());
}

const bench::registration registered{"spantree", measure};

}  // namespace
