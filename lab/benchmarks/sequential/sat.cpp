// SPDX-License-Identifier: Apache-2.0
// sat: a plain recursion on one partial model, changed and changed back.
#include "kernels/sat.hpp"

#include "harness/harness.hpp"

namespace {

std::int64_t models(kernels::partial_model& m) {
  const kernels::literal l = m.undecided();
  if (l == kernels::partial_model::none) return m.models();
  std::int64_t sum = 0;
  for (const kernels::literal choice : {l, kernels::negation(l)}) {
    if (!m.decide(choice)) continue;
    sum += models(m);
    m.go_back();
  }
  return sum;
}

void measure(bench::run& run) {
  using kernels::partial_model;
  const kernels::formula formula(static_cast<std::uint32_t>(
      run.size_between(partial_model::fewest_variables, partial_model::most_variables)));
  partial_model empty(formula);
  std::int64_t result = 0;
  run.time([&] { result = models(empty); });
  run.result(result);
}

const bench::registration registered{"sat", measure};

}  // namespace
