// SPDX-License-Identifier: Apache-2.0
// Broken optimisers: their walkers find what is wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "optimise/candidates.hpp"
#include "optimise/state_machine.hpp"

namespace sukima::host {

/// Breaks structures from inside.
struct test_access {
  static unsigned& candidate(candidates& of) { return of.candidate_; }
  static unsigned& best(candidates& of) { return of.best_; }
  static unsigned& count(state_machine& of) { return of.count_; }
  static bool& waits(state_machine& of) { return of.waits_; }
  static bool& opted_in(state_machine& of) { return of.opted_in_; }
  static unsigned& candidate(state_machine& of) { return of.candidate_; }
  static void begin_sweep(state_machine& of) { of.sweep_.emplace(1, 2); }
};

}  // namespace sukima::host

namespace {

using namespace sukima::host;

std::string violated(const auto& structure) {
  const char* const invariant = structure.violated_invariant();
  return invariant != nullptr ? invariant : "";
}

TEST(candidates_invariants, each_count_is_tried_once_within_the_bounds) {
  candidates search(4, 5, 8, 2);
  EXPECT_EQ(search.next(), 5U);
  EXPECT_EQ(violated(search), "");
  test_access::candidate(search) = 7;
  EXPECT_EQ(violated(search), "a candidate is tried once");
  test_access::candidate(search) = 0;
  test_access::best(search) = 6;
  EXPECT_EQ(violated(search), "the best count was tried");
}

/// A VM that learns, with counts from 2 to 6.
class a_vm : public testing::Test {
 protected:
  std::vector<verdict> verdicts;
  state_machine machine{"a", {.least = 2, .most = 6}, verdicts};

  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
    machine.feed(vm_event::opted_in, 1);
    machine.feed(vm_status{.at = 2, .usable = 4, .count = 4, .demand = 6, .up = 1000});
    machine.feed(measured_window{.at = 3, .count = 4, .use = 4, .progress = 10});
    ASSERT_EQ(machine.state(), optimiser_state::learn);
    EXPECT_EQ(violated(machine), "");
  }
};

TEST_F(a_vm, rests_within_its_bounds) {
  test_access::count(machine) = 7;
  EXPECT_EQ(violated(machine), "the resting count is within the bounds of the VM");
}

TEST_F(a_vm, waits_with_a_candidate) {
  test_access::waits(machine) = true;
  EXPECT_EQ(violated(machine), "a search that waits for its turn has a candidate");
  EXPECT_DEATH(machine.feed(measured_window{.at = 4, .count = 4, .use = 4, .progress = 10}),
               "a search that waits for its turn has a candidate");
  test_access::candidate(machine) = 7;
  EXPECT_EQ(violated(machine), "a candidate is within the bounds of the VM");
}

TEST_F(a_vm, sweeps_in_the_state_for_it) {
  test_access::begin_sweep(machine);
  EXPECT_EQ(violated(machine), "a sweep runs in the state sweep only");
}

TEST_F(a_vm, is_optimised_only_if_it_is_opted_in) {
  test_access::opted_in(machine) = false;
  EXPECT_EQ(violated(machine), "only a live, opted-in VM with an estimate is optimised");
}

TEST_F(a_vm, begins_a_trial_at_its_turn) {
  EXPECT_DEATH(machine.begin_trial(4), "a trial begins at its turn");
}

}  // namespace
