// SPDX-License-Identifier: Apache-2.0
// nqueens: bit masks; a parallel choice among the free columns, lowest bit first, at every node or above a
// cut-off depth.
#include "fork_join/cut_off.hpp"
#include "harness/harness.hpp"
#include "sequential/searches.hpp"
#include "system.hpp"

namespace {

using kernels::queens;

template <class CutOff>
std::int64_t solutions(auto c, queens q, int row, CutOff end) {
  if (end.reached(row)) return sequential::solutions(q);
  if (q.complete()) return 1;
  return c.template sum_of_bits<std::int64_t>(
      q.free(), [=](auto below, std::uint32_t bit) { return solutions(below, q.with(bit), row + 1, end); });
}

template <class CutOff>
void measure(bench::run& run, CutOff end) {
  const queens empty = queens::empty(run.size_between(1, kernels::most_queens));
  std::int64_t result = 0;
  run.time([&] { region([&](auto c) { result = solutions(c, empty, 0, end); }); });
  run.result(result);
}

const bench::registration registered{"nqueens", [](bench::run& run) { measure(run, no_cut_off{}); }};
const bench::tuned_registration tuned{"nqueens", [](bench::run& run) { measure(run, cut_off{run.depth()}); }};

}  // namespace
