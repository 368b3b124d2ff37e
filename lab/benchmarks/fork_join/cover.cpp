// SPDX-License-Identifier: Apache-2.0
// cover for systems without undo: a parallel choice among the options of the smallest item, each with a copy
// of the dancing links, at every node or above a cut-off depth; below it that copy is changed and changed
// back.
#include "fork_join/cut_off.hpp"
#include "harness/harness.hpp"
#include "sequential/searches.hpp"
#include "system.hpp"

namespace {

using kernels::exact_cover;

template <class CutOff>
std::int64_t covers(auto c, exact_cover& state, int level, CutOff end) {
  if (end.reached(level)) return sequential::covers(state);
  if (state.complete()) return 1;
  const kernels::possible_options options(state);
  const auto all = options.all();
  return c.template sum<std::int64_t>(
      0, static_cast<int>(all.size()), [](int) { return true; },
      [&state, all, level, end](auto below, int choice) -> std::int64_t {
        exact_cover next = state;
        return next.choose(all[static_cast<unsigned>(choice)]) ? covers(below, next, level + 1, end) : 0;
      });
}

template <class CutOff>
void measure(bench::run& run, CutOff end) {
  exact_cover state = kernels::langford(run.size_between(1, kernels::most_langford));
  std::int64_t result = 0;
  run.time([&] {
    if (state.begin()) region([&](auto c) { result = covers(c, state, 0, end); });
  });
  run.result(result);
}

const bench::registration registered{"cover", [](bench::run& run) { measure(run, no_cut_off{}); }};
const bench::tuned_registration tuned{"cover", [](bench::run& run) { measure(run, cut_off{run.depth()}); }};

}  // namespace
