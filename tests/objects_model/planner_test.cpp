// SPDX-License-Identifier: Apache-2.0
// The planner: groups, wishes, ranking, capacities, bottleneck, and the plan file.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <objects/shared/plan_reader.hpp>
#include <objects/shared/planner.hpp>
#include "examples.hpp"
#include "model/grouping.hpp"

namespace {

using namespace sukima::objects::model;
using enum execution_model;

plan plan_of(const description& program, double cpus, bool by_paper = false) {
  plan_request request;
  request.where = examples::machine_of(cpus);
  request.by_paper = by_paper;
  return make_plan(program, request);
}

const candidate* find(const plan& made, execution_model model) {
  for (const candidate& one : made.ranking)
    if (one.how.model == model) return &one;
  return nullptr;
}

TEST(grouping, cuts_where_few_messages_pass) {
  // Two chains of four; one message in a hundred goes from the first to the second.
  description program = examples::pipeline_of(8, 10'000, 1000);
  program.objects[3].sends[0].per_input = 0.01;
  program.objects[4].starts = 10'000;
  program.objects[4].activations = 10'100;
  const auto groups = group(program, flow_of(program), clusters_of(program, false), 2);
  EXPECT_EQ(groups, (std::vector<std::size_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(grouping, balances_computing_without_messages) {
  description program = examples::pipeline_of(1, 100, 1000);
  for (int i = 1; i < 6; i++) {
    program.objects.push_back(program.objects[0]);
    program.objects.back().name = "p" + std::to_string(i);
  }
  const auto groups = group(program, flow_of(program), clusters_of(program, false), 3);
  for (std::size_t i = 0; i < 3; i++) EXPECT_EQ(std::count(groups.begin(), groups.end(), i), 2);
}

TEST(grouping, keeps_local_streams_and_wishes_together) {
  description program = examples::pipeline_of(6, 1000, 100);
  program.streams[1].local = true;
  program.objects[0].group = program.objects[5].group = "ends";
  EXPECT_EQ(clusters_of(program, true), (std::vector<std::size_t>{0, 1, 1, 2, 3, 0}));
  EXPECT_EQ(clusters_of(program, false), (std::vector<std::size_t>{0, 1, 2, 3, 4, 0}));
  const plan made = plan_of(program, 2);
  EXPECT_EQ(find(made, processes), nullptr);
  for (const execution_model model : {threads_simulated, processes_simulated, workers_simulated}) {
    const candidate* one = find(made, model);
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(one->how.groups[1], one->how.groups[2]);
    EXPECT_EQ(one->how.groups[0], one->how.groups[5]);
  }
}

TEST(planner, simulates_what_only_communicates) {
  const plan made = plan_of(examples::pipeline_of(6, 1e6, 0), 1);
  EXPECT_EQ(made.ranking[made.chosen].how.model, simulated);
  EXPECT_EQ(made.ranking.size(), all_models.size());
  EXPECT_NE(made.bottleneck.find("messages, switches and waiting"), std::string::npos) << made.bottleneck;
}

TEST(planner, uses_the_cpus_for_what_computes) {
  const description program = examples::pipeline_of(4, 1e5, 20'000);
  const plan made = plan_of(program, 2);
  const candidate& best = made.ranking[made.chosen];
  EXPECT_NE(best.how.model, simulated);
  EXPECT_NEAR(best.simulated.time_ns, 4 * 1e5 * 20'000 / 2, 0.03 * 4e9);
  EXPECT_GT(find(made, simulated)->simulated.time_ns, 1.9 * best.simulated.time_ns);
}

TEST(planner, gives_objects_that_wait_for_the_kernel_threads) {
  // One source and eight workers, which sleep for each of its messages, as for a disk.
  description program = examples::pipeline_of(2, 400, 1000);
  program.objects[1].blocked_ns = 1e6;
  for (int i = 1; i < 8; i++) {
    program.objects.push_back(program.objects[1]);
    program.objects.back().name = "w" + std::to_string(i);
    program.streams[0].receivers.push_back(program.objects.size() - 1);
  }
  const plan made = plan_of(program, 2);
  const candidate& best = made.ranking[made.chosen];
  EXPECT_TRUE(parts_of(best.how.model).island_each) << name_of(best.how.model);
  EXPECT_LT(best.simulated.time_ns, 0.2 * find(made, simulated)->simulated.time_ns);
  EXPECT_NE(made.bottleneck.find("wait in the operating system"), std::string::npos) << made.bottleneck;
}

TEST(planner, names_the_object_that_limits) {
  description program = examples::pipeline_of(3, 1e5, 1000);
  program.objects[1].compute_ns = 50'000;
  const plan made = plan_of(program, 2);
  EXPECT_NE(made.bottleneck.find("o1 computes"), std::string::npos) << made.bottleneck;
  EXPECT_NE(made.bottleneck.find("several objects for its work, each with its own ends"), std::string::npos)
      << made.bottleneck;
}

TEST(planner, calls_ties_ties_and_takes_the_fewest_units) {
  // Four objects that only compute, on two CPUs: two threads of two objects are as fast as four
  // threads.
  description program = examples::pipeline_of(1, 2000, 1e6);
  for (int i = 1; i < 4; i++) {
    program.objects.push_back(program.objects[0]);
    program.objects.back().name = "p" + std::to_string(i);
  }
  const plan made = plan_of(program, 2);
  EXPECT_GT(made.tied, 2u);
  EXPECT_LT(made.tied, made.ranking.size()) << "one CPU is slower";
  for (std::size_t i = 0; i < made.tied; i++)
    EXPECT_GE(made.ranking[i].units, made.ranking[made.chosen].units);
  EXPECT_EQ(made.ranking[made.chosen].units, 2u);
}

TEST(planner, takes_another_cpu_only_for_more_than_is_known) {
  const auto chosen_for = [](double part) {
    description program = examples::pipeline_of(1, 2000, 1e6);
    program.objects.push_back(program.objects[0]);
    program.objects.back().name = "smaller";
    program.objects.back().compute_ns *= part;
    const plan made = plan_of(program, 2);
    return made.ranking[made.chosen].how.model;
  };
  EXPECT_EQ(chosen_for(0.2), simulated) << "a second CPU gains a sixth";
  EXPECT_NE(chosen_for(0.5), simulated) << "a third";
}

TEST(planner, enlarges_streams_while_it_pays) {
  const description program = examples::pipeline_of(2, 1e6, 0, 1);
  const plan made = plan_of(program, 1);
  const candidate* one = find(made, simulated);
  ASSERT_NE(one, nullptr);
  EXPECT_GE(one->how.capacities[0], 32u);
  plan_request tight;
  tight.where = examples::machine_of(1);
  tight.most_bytes = 4 * 8;
  EXPECT_LE(make_plan(program, tight).ranking.front().how.capacities[0], 4u);
}

TEST(planner, leaves_out_what_wishes_and_the_profile_rule_out) {
  description program = examples::pipeline_of(3, 1000, 100);
  program.objects[0].unit = unit::process;
  plan_request request;
  request.where = examples::machine_of(2);
  const plan made = make_plan(program, request);
  for (const candidate& one : made.ranking) EXPECT_EQ(parts_of(one.how.model).between, unit::process);
  EXPECT_EQ(made.ranking.size() + made.left_out.size(), all_models.size());
  std::erase_if(request.where.costs.messages, [](const auto& line) { return line.carrier == unit::process; });
  EXPECT_THROW(make_plan(program, request), description_error);
}

TEST(planner, refuses_a_program_in_which_nothing_happens) {
  description program = examples::pipeline_of(2, 1, 1000);
  for (object& one : program.objects) one.activations = 0;
  for (const bool by_paper : {false, true}) EXPECT_THROW(plan_of(program, 2, by_paper), description_error);
  const prediction none =
      predict(program, {simulated, std::vector<std::size_t>(2), std::vector<std::size_t>(1, 64)},
              examples::machine_of(2));
  EXPECT_EQ(none.time_ns, 0);
  EXPECT_EQ(none.computing, std::vector<double>(2));
  EXPECT_EQ(none.blocked, std::vector<double>(2));
  EXPECT_EQ(none.full, std::vector<double>(1));
}

TEST(planner, is_decided_by_the_paper_when_asked) {
  const plan made = plan_of(examples::pipeline_of(6, 1e6, 200), 2, true);
  EXPECT_TRUE(std::is_sorted(made.ranking.begin(), made.ranking.end(),
                             [](const auto& a, const auto& b) { return a.paper_ns < b.paper_ns; }));
}

std::string refusal_of(const std::string& text, std::uint64_t machine_hash) {
  try {
    read_plan(text, machine_hash);
  } catch (const description_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(plan_file, is_read_as_it_was_written_and_refused_elsewhere) {
  const description program = examples::pipeline_of(6, 1e5, 20'000);
  const plan made = plan_of(program, 2);
  const candidate* one = find(made, threads_simulated);
  ASSERT_NE(one, nullptr);
  const std::string text = plan_text(program, *one, 1.5, 42);
  const named_plan read = read_plan(text, 42);
  EXPECT_EQ(read.model, threads_simulated);
  EXPECT_EQ(read.cpus, 1.5);
  EXPECT_EQ(read.program, program.program);
  std::size_t grouped = 0;
  for (std::size_t group = 0; group < read.groups.size(); group++)
    for (const std::string& name : read.groups[group]) {
      const auto object = std::find_if(program.objects.begin(), program.objects.end(),
                                       [&](const auto& candidate) { return candidate.name == name; });
      ASSERT_NE(object, program.objects.end()) << name;
      EXPECT_EQ(one->how.groups[static_cast<std::size_t>(object - program.objects.begin())], group);
      grouped++;
    }
  EXPECT_EQ(grouped, program.objects.size());
  for (std::size_t i = 0; i < program.streams.size(); i++)
    EXPECT_EQ(read.capacities.at(program.streams[i].name), one->how.capacities[i]);
  EXPECT_EQ(refusal_of(text, 43), "the plan: it was made for another machine: make a new plan");
  std::string twice = text;
  twice.replace(twice.find("\"o3\""), 4, "\"o2\"");
  EXPECT_NE(refusal_of(twice, 42).find("'o2' is in two groups"), std::string::npos);
  EXPECT_NE(refusal_of(text.substr(0, 50), 42).find("the plan is not JSON"), std::string::npos);
  EXPECT_EQ(refusal_of("[]", 42), "the plan: must be a JSON object");
}

}  // namespace
