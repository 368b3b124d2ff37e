// SPDX-License-Identifier: Apache-2.0
// Broken simulations and plans: their walkers find what is wrong.
#include <gtest/gtest.h>

#include <objects/shared/planner.hpp>

#include <string>

#include "examples.hpp"
#include "model/simulation.hpp"

namespace sukima::objects::model {

/// Breaks a simulation from inside.
struct test_access {
  static std::size_t& messages(simulation& of, std::size_t stream) { return of.streams_[stream].count; }
  static std::size_t& waiting_receivers(simulation& of, std::size_t stream) {
    return of.streams_[stream].waiting_receivers;
  }
  static std::size_t& waiting_senders(simulation& of, std::size_t stream) {
    return of.streams_[stream].waiting_senders;
  }
  static std::size_t& listeners(simulation& of, std::size_t stream) { return of.streams_[stream].listeners; }
  static std::size_t& driving(simulation& of) { return of.driving_; }
  static void forget_ready(simulation& of) { of.islands_.front().ready.pop_front(); }
  static void queue_thread_again(simulation& of) { of.thread_queue_.push_back(0); }
  static void queue_island(simulation& of) { of.island_queue_.push_back(0); }
};

}  // namespace sukima::objects::model

namespace {

using namespace examples;
using sukima::objects::model::execution_model;
using sukima::objects::model::test_access;

std::string violated(const auto& structure) {
  const char* const invariant = structure.violated_invariant();
  return invariant != nullptr ? invariant : "";
}

/// Three objects in a row at the beginning of their run, simulated on one CPU.
struct begun {
  const model::description program = pipeline_of(3, 10, 100);
  const model::configuration how = configuration_of(program, execution_model::simulated);
  const model::machine where = machine_of(1);
  model::simulation run{program, model::flow_of(program), how, where, 1, 1};
};

TEST(simulation_invariants, hold_at_the_beginning_and_at_the_end_of_each_model) {
  const model::description program = pipeline_of(4, 500, 100, 2);
  for (const execution_model how : sukima::objects::model::all_models)
    for (const double cpus : {1.0, 2.0, 4.0}) {
      const model::configuration one = configuration_of(program, how);
      const model::machine where = machine_of(cpus);
      model::simulation run(program, model::flow_of(program), one, where, 1, 1);
      EXPECT_EQ(violated(run), "") << name_of(how) << " on " << cpus;
      run.run({});
      EXPECT_EQ(violated(run), "") << name_of(how) << " on " << cpus;
    }
}

TEST(simulation_invariants, streams_hold_and_count_what_is_there) {
  begun one;
  ASSERT_EQ(violated(one.run), "");
  test_access::messages(one.run, 0) = 65;
  EXPECT_EQ(violated(one.run), "a stream holds no more messages than its capacity");
  test_access::messages(one.run, 0) = 0;
  test_access::waiting_receivers(one.run, 0)++;
  EXPECT_EQ(violated(one.run), "a stream counts the objects that wait for its messages");
  test_access::waiting_receivers(one.run, 0)--;
  test_access::waiting_senders(one.run, 1)++;
  EXPECT_EQ(violated(one.run), "a stream counts the objects that wait for its room");
  test_access::waiting_senders(one.run, 1)--;
  test_access::listeners(one.run, 1)--;
  EXPECT_EQ(violated(one.run), "a stream counts the receivers that have not ended");
}

TEST(simulation_invariants, each_object_is_in_one_place) {
  begun one;
  test_access::driving(one.run)++;
  EXPECT_EQ(violated(one.run), "the objects that drive the run and have not ended are counted");
  test_access::driving(one.run)--;
  test_access::forget_ready(one.run);
  EXPECT_EQ(violated(one.run), "an object runs, is ready, waits, or has ended");
}

TEST(simulation_invariants, threads_and_islands_are_queued_once) {
  begun one;
  test_access::queue_thread_again(one.run);
  EXPECT_EQ(violated(one.run), "a thread that waits for a CPU is in the queue");
  begun other;
  test_access::queue_island(other.run);
  EXPECT_EQ(violated(other.run), "an island that waits for a worker is in the queue");
}

TEST(plan_invariants, are_those_of_a_ranking) {
  const model::description program = pipeline_of(4, 500, 1000);
  const model::plan made = model::make_plan(program, {.where = machine_of(2)});
  ASSERT_EQ(violated(made), "");
  model::plan broken = made;
  broken.chosen = broken.tied;
  EXPECT_EQ(violated(broken), "the chosen candidate is tied with the first one");
  broken = made;
  broken.tied = broken.ranking.size() + 1;
  EXPECT_EQ(violated(broken), "the tied candidates are the first ones of the ranking");
  broken = made;
  broken.ranking.push_back(broken.ranking.front());
  EXPECT_EQ(violated(broken), "a model is ranked once");
  broken = made;
  broken.ranking.front().how.groups.back() += 100;
  EXPECT_EQ(violated(broken), "groups are numbered without gaps");
  broken = made;
  broken.ranking.back().how.capacities.front() = 0;
  EXPECT_EQ(violated(broken), "a stream has room for a message");
  broken = made;
  broken.left_out.push_back({broken.ranking.front().how.model, "no reason"});
  EXPECT_EQ(violated(broken), "a model that is left out is not ranked");
  EXPECT_EQ(violated(model::plan()), "a plan has a candidate");
}

}  // namespace
