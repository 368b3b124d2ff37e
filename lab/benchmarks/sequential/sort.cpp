// SPDX-License-Identifier: Apache-2.0
// sort: the merge sort of the parallel programs as one sequential recursion (faster here than std::sort).
#include "kernels/sort.hpp"

#include "harness/harness.hpp"

namespace {

void measure(bench::run& run) {
  kernels::sort_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 30)));
  run.time([&] { kernels::sort_run(problem.data, problem.buffer, false); });
  if (!problem.sorted()) throw bench::wrong_result("the numbers are not in order");
  run.result(std::to_string(problem.sum));
}

const bench::registration registered{"sort", measure};

}  // namespace
