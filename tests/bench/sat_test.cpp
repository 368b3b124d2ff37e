// SPDX-License-Identifier: Apache-2.0
// Tests of the problem of sat, against a look at each assignment.
#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/sat.hpp"

namespace {

using kernels::formula;
using kernels::literal;
using kernels::partial_model;

std::int64_t models(partial_model& m) {
  const literal l = m.undecided();
  if (l == partial_model::none) return m.models();
  std::int64_t sum = 0;
  for (const literal choice : {l, kernels::negation(l)}) {
    if (!m.decide(choice)) continue;
    sum += models(m);
    m.go_back();
  }
  return sum;
}

bool is_true(const formula& f, std::uint32_t assignment) {
  for (const auto& clause : f.clauses) {
    bool one = false;
    for (const literal l : clause) one = one || ((assignment >> l / 2) & 1) != (l & 1);
    if (!one) return false;
  }
  return true;
}

TEST(sat, counts_each_model_once) {
  for (std::uint32_t variables = partial_model::fewest_variables; variables <= 16; ++variables) {
    const formula f(variables);
    std::int64_t expected = 0;
    for (std::uint32_t a = 0; a < std::uint32_t{1} << variables; ++a) expected += is_true(f, a);
    partial_model m(f);
    EXPECT_EQ(models(m), expected) << variables << " variables";
  }
}

TEST(sat, a_refused_decision_and_going_back_change_nothing) {
  const formula f(40);
  partial_model m(f);
  int refused = 0;
  while (m.undecided() != partial_model::none) {
    const literal l = m.undecided();
    const bool positive = m.decide(l);
    if (positive) m.go_back();
    EXPECT_EQ(m.undecided(), l);
    const bool negative = m.decide(kernels::negation(l));
    refused += !positive + !negative;
    if (negative) continue;
    if (!m.decide(l)) break;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
