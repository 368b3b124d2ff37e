// SPDX-License-Identifier: Apache-2.0
// sat: a search over the two values of each decided variable.
#include "kernels/sat.hpp"

#include "in_runtime.hpp"

#include <array>

namespace {

using kernels::literal;
using kernels::partial_model;

std::int64_t models(auto c, partial_model& m) {
  const literal l = m.undecided();
  if (l == partial_model::none) return m.models();
  const std::array<literal, 2> values{l, kernels::negation(l)};
  return sukima::search(
      c, m, values, [](partial_model& w, literal choice) { return w.decide(choice); },
      [](partial_model& w, literal) { w.go_back(); },
      [](auto below, partial_model& w, literal) { return models(below, w); }, std::plus{});
}

void measure(bench::run& run) {
  const kernels::formula formula(static_cast<std::uint32_t>(
      run.size_between(partial_model::fewest_variables, partial_model::most_variables)));
  partial_model empty(formula);
  time_in_runtime(run, [&](sukima::context c) { return models(c, empty); });
}

const bench::registration registered{"sat", measure};

}  // namespace
