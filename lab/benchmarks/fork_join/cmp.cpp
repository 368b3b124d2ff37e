// SPDX-License-Identifier: Apache-2.0
// cmp: all pairs of two arrays, by recursive halving of the longer one.
#include "kernels/cmp.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using elements = std::span<const std::uint32_t>;

std::int64_t pairs(auto c, elements a, elements b) {
  if (a.size() <= kernels::cmp_leaf && b.size() <= kernels::cmp_leaf) return kernels::equal_pairs(a, b);
  std::int64_t first = 0, second = 0;
  if (a.size() >= b.size()) {
    const std::size_t half = a.size() / 2;
    c.fork2([&](auto below) { first = pairs(below, a.first(half), b); },
            [&](auto below) { second = pairs(below, a.subspan(half), b); });
  } else {
    const std::size_t half = b.size() / 2;
    c.fork2([&](auto below) { first = pairs(below, a, b.first(half)); },
            [&](auto below) { second = pairs(below, a, b.subspan(half)); });
  }
  return first + second;
}

void measure(bench::run& run) {
  const kernels::cmp_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 24)));
  std::int64_t result = 0;
  run.time([&] { region([&](auto c) { result = pairs(c, problem.a, problem.b); }); });
  if (result != problem.expected())
    throw bench::wrong_result("wrong number of pairs " + std::to_string(result));
  run.result(result);
}

const bench::registration registered{"cmp", measure};

}  // namespace
