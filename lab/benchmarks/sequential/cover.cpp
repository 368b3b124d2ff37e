// SPDX-License-Identifier: Apache-2.0
// cover: Langford's problem as an exact cover; one set of dancing links, changed and changed back.
#include "harness/harness.hpp"
#include "sequential/searches.hpp"

namespace {

void measure(bench::run& run) {
  kernels::exact_cover state = kernels::langford(run.size_between(1, kernels::most_langford));
  std::int64_t result = 0;
  run.time([&] { result = state.begin() ? sequential::covers(state) : 0; });
  run.result(result);
}

const bench::registration registered{"cover", measure};

}  // namespace
