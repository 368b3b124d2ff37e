// SPDX-License-Identifier: Apache-2.0
// cover: one set of dancing links a worker, changed and changed back; a search among the options of the
// smallest item at every node.
#include "kernels/cover.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::exact_cover;

std::int64_t covers(auto c, exact_cover& state) {
  if (state.complete()) return 1;
  const kernels::possible_options options(state);
  return sukima::search(
      c, state, options.all(), [](exact_cover& s, exact_cover::place option) { return s.choose(option); },
      [](exact_cover& s, exact_cover::place option) { s.take_back(option); },
      [](auto below, exact_cover& s, exact_cover::place) { return covers(below, s); }, std::plus{});
}

void measure(bench::run& run) {
  exact_cover state = kernels::langford(run.size_between(1, kernels::most_langford));
  std::int64_t result = 0;
  run.time([&] {
    if (state.begin()) result = system_runtime().run([&](sukima::context c) { return covers(c, state); });
  });
  run.result(result);
}

const bench::registration registered{"cover", measure};

}  // namespace
