// SPDX-License-Identifier: Apache-2.0
// Broken structures of hierarchical omission: their walkers find what is wrong.
#include "hope/claims.hpp"
#include "hope/looks.hpp"
#include "hope/plan.hpp"
#include "hope/result_store.hpp"
#include "hope_keys.hpp"

#include <gtest/gtest.h>
#include <base/shared/assert.hpp>

#include <string>

namespace sukima::cluster::hope {

/// Breaks structures from inside.
struct test_access {
  static auto& results(result_store& of) { return of.results_; }
  static auto& order(result_store& of) { return of.cheapest_; }
  static std::size_t& used(result_store& of) { return of.used_; }
  static auto& claimants(claims& of, const task_key& key) { return of.tasks_[key].claimants; }
  static auto& members(plan& of) { return of.members_; }
  static node_group& group(plan& of) { return of.group_; }
  static auto& counts(looks& of) { return of.within_; }
};

}  // namespace sukima::cluster::hope

namespace {

using hope_keys::key;
using namespace sukima::cluster;
using namespace sukima::cluster::hope;
using namespace std::chrono_literals;

std::string violated(const auto& structure) {
  const char* const invariant = structure.violated_invariant();
  return invariant != nullptr ? invariant : "";
}

struct a_result_store : testing::Test {
  result_store store{10000};
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
    for (std::uint64_t n = 0; n < 3; ++n) store.put(key(n), bytes(100), 1ms * static_cast<int>(n));
    EXPECT_EQ(violated(store), "");
  }
};

TEST_F(a_result_store, counts_its_bytes) {
  test_access::used(store) -= 1;
  EXPECT_EQ(violated(store), "the used bytes are those of all results");
  EXPECT_DEATH(store.put(key(7), bytes(1), 1ms), "the used bytes are those of all results");
}

TEST_F(a_result_store, finds_each_result_in_the_order_of_costs) {
  test_access::order(store).erase(test_access::order(store).begin());
  EXPECT_EQ(violated(store), "each result has one place in the order of costs");
}

TEST_F(a_result_store, has_no_result_in_the_order_that_is_gone) {
  test_access::results(store).erase(key(1));
  EXPECT_EQ(violated(store), "each place in the order of costs belongs to a result of that cost");
}

TEST(claims_invariants, a_lost_node_claims_nothing) {
  claims all;
  all.claim(key(1), 2, {});
  all.lose(3);
  EXPECT_EQ(violated(all), "");
  test_access::claimants(all, key(1)).emplace(3, clock::time_point{});
  EXPECT_EQ(violated(all), "a lost node claims nothing");
}

TEST(claims_invariants, orphans_are_of_lost_nodes) {
  claims all;
  all.claim(key(1), 2, {});
  test_access::claimants(all, key(1)).clear();
  EXPECT_EQ(violated(all), "a task without a claimant is an orphan of a lost node");
  all.lose(2);
  EXPECT_EQ(violated(all), "");
}

TEST(plan_invariants, this_node_is_in_its_group) {
  plan one;
  one.begin(3, {false, true, false, false, false});
  EXPECT_EQ(violated(one), "");
  test_access::group(one) = {0, 1};
  EXPECT_EQ(violated(one), "this node is in the group that begins where the plan has led");
  one.end();
  EXPECT_EQ(violated(one), "");
}

TEST(plan_invariants, ranks_are_of_living_nodes_in_order) {
  plan one;
  one.begin(1, {false, false, false});
  test_access::group(one).last = 4;
  EXPECT_EQ(violated(one), "a group consists of ranks of nodes that lived when the entry began");
  test_access::members(one) = {0, 2, 1};
  EXPECT_EQ(violated(one), "each node has one rank, in the order of their numbers");
}

TEST(looks_invariants, counts_are_of_unnamed_tasks) {
  looks all;
  all.begin({});
  all.add_announced(key(1), key(7));
  all.add_announced(key(2), key(7));
  EXPECT_EQ(violated(all), "");
  test_access::counts(all)[key(7)] = 1;
  EXPECT_EQ(violated(all), "the counts within each task are those of the tasks without a name here");
}

}  // namespace
