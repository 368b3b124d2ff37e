// SPDX-License-Identifier: Apache-2.0
// cover for systems without undo: a parallel choice among the options of the smallest item at every node,
// each with a copy of the dancing links.
#include "kernels/cover.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::exact_cover;

std::int64_t covers(context c, const exact_cover& state) {
  if (state.complete()) return 1;
  const kernels::possible_options options(state);
  const auto all = options.all();
  return c.sum<std::int64_t>(
      0, static_cast<int>(all.size()), [](int) { return true; },
      [&state, all](context below, int choice) -> std::int64_t {
        exact_cover next = state;
        return next.choose(all[static_cast<unsigned>(choice)]) ? covers(below, next) : 0;
      });
}

void measure(bench::run& run) {
  exact_cover state = kernels::langford(run.size_between(1, kernels::most_langford));
  std::int64_t result = 0;
  run.time([&] {
    if (state.begin()) region([&](context c) { result = covers(c, state); });
  });
  run.result(result);
}

const bench::registration registered{"cover", measure};

}  // namespace
