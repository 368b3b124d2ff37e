// SPDX-License-Identifier: Apache-2.0
// cover: Langford's problem as an exact cover; one set of dancing links, changed and changed back.
#include "kernels/cover.hpp"

#include "harness/harness.hpp"

namespace {

using kernels::exact_cover;

std::int64_t covers(exact_cover& state) {
  if (state.complete()) return 1;
  std::int64_t sum = 0;
  for (auto option = state.first_option(); option != 0; option = state.next_option(option)) {
    if (!state.choose(option)) continue;
    sum += covers(state);
    state.take_back(option);
  }
  return sum;
}

void measure(bench::run& run) {
  exact_cover state = kernels::langford(run.size_between(1, kernels::most_langford));
  std::int64_t result = 0;
  run.time([&] { result = state.begin() ? covers(state) : 0; });
  run.result(result);
}

const bench::registration registered{"cover", measure};

}  // namespace
