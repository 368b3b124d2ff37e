// SPDX-License-Identifier: Apache-2.0
// pentomino for systems without undo: a parallel choice among the placements that fit, each with a copy of
// the board, at every node or above a cut-off depth; below it that copy is changed and changed back.
#include "fork_join/cut_off.hpp"
#include "harness/harness.hpp"
#include "sequential/searches.hpp"
#include "system.hpp"

namespace {

using kernels::pentomino_board;

// The fillings of the rest of the board, from free cell k, with the pieces that are not used yet.
template <class CutOff>
std::int64_t fillings(auto c, pentomino_board& board, int k, int used, CutOff end) {
  if (end.reached(used)) return sequential::fillings(board, k, used);
  const kernels::fitting_placements fitting(board, k, used);
  const auto placements = fitting.all();
  return c.template sum<std::int64_t>(
      0, static_cast<int>(placements.size()), [](int) { return true; },
      [&board, placements, k, used, end](auto below, int choice) -> std::int64_t {
        const auto [how, chosen] = placements[static_cast<unsigned>(choice)];
        pentomino_board next = board;
        next.place(k, used, chosen, *how);
        if (next.complete()) return 1;
        const int free = next.first_free(k);
        return next.hopeless(free) ? 0 : fillings(below, next, free, used + 1, end);
      });
}

template <class CutOff>
void measure(bench::run& run, CutOff end) {
  pentomino_board empty{run.size_between(12, pentomino_board::most_pieces)};
  std::int64_t result = 0;
  run.time([&] { region([&](auto c) { result = fillings(c, empty, 0, 0, end); }); });
  run.result(result);
}

const bench::registration registered{"pentomino", [](bench::run& run) { measure(run, no_cut_off{}); }};
const bench::tuned_registration tuned{"pentomino",
                                      [](bench::run& run) { measure(run, cut_off{run.depth()}); }};

}  // namespace
