// SPDX-License-Identifier: Apache-2.0
// A session learns what a change of the count costs, from the progress that its guests report.
#include <gtest/gtest.h>

#include "synthetic_host.hpp"

namespace {

using namespace guests;

/// Optimises one program until its first search ends. \returns the verdict
verdict after_a_search(bool stops_at_changes) {
  const guests::folder folder;
  journal written(folder.path / "journal");
  synthetic_host host(8);
  host.add(8, locked);
  host[0].stops_at_changes = stops_at_changes;
  host.begin("threads", {}, &written);
  while (host.now < 3000) {
    host.run(1);
    for (const verdict& one : host.verdicts)
      if (one.kind == verdict_kind::rested) return one;
  }
  ADD_FAILURE() << "no search ends";
  return {};
}

TEST(session_cost, of_a_change_is_what_the_program_lost) {
  const verdict stopped = after_a_search(true), ran = after_a_search(false);
  EXPECT_EQ(stopped.after, 2U);
  EXPECT_EQ(ran.after, 2U);
  EXPECT_NEAR(stopped.figures.cost.value_or(0), 0.25, 0.06);  // a step of the synthetic host
  EXPECT_LE(ran.figures.cost.value_or(0), 0.06);
}

}  // namespace
