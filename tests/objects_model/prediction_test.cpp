// SPDX-License-Identifier: Apache-2.0
// Predictions against what is known without a simulation: bounds, mean-value analysis, the paper's
// observations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "examples.hpp"

namespace {

using namespace sukima::objects::model;
using enum execution_model;
using examples::configuration_of;

constexpr effort thorough = {.events = 8'000'000, .agreement = 0.004};

double time_per(const description& program, execution_model how, const machine& where, double count,
                const effort& most = {}) {
  return predict(program, configuration_of(program, how), where, most).time_ns / count;
}

TEST(prediction, of_a_simulated_stream_counts_two_switches_a_capacity) {
  const machine where = examples::machine_of(1);
  for (const std::size_t capacity : {1U, 2U, 8U, 64U}) {
    const description program = examples::pipeline_of(2, 1e6, 0, capacity);
    EXPECT_NEAR(time_per(program, simulated, where, 1e6), 2.7 + 2 * 8 / static_cast<double>(capacity), 0.05)
        << capacity;
  }
}

TEST(prediction, of_a_short_program_is_that_of_its_whole_run) {
  const description program = examples::pipeline_of(3, 10, 1000);
  const prediction result = predict(program, configuration_of(program, simulated), examples::free_machine(1));
  EXPECT_DOUBLE_EQ(result.time_ns, 30'000);
  EXPECT_FALSE(result.stuck);
  EXPECT_NEAR(result.computing[1], 1 / 3.0, 1e-9);
}

TEST(prediction, passes_on_what_an_object_was_woken_for) {
  const description program = parse_description(R"({"sukima-objects": 1,
    "streams": [{"name": "a"}, {"name": "b"}],
    "objects": [{"name": "either", "receives": ["b", "a"], "activations": 1},
                {"name": "waits", "receives": ["a"], "activations": 1},
                {"name": "source", "starts": 1, "sends": [{"stream": "a"}, {"stream": "b"}]}]})");
  EXPECT_FALSE(predict(program, configuration_of(program, simulated), examples::free_machine(1)).stuck);
}

TEST(prediction, of_long_computations_takes_as_many_steps_as_that_of_short_ones) {
  // Slices of 3 ms would be a thousand million steps.
  const description program = examples::pipeline_of(3, 1000, 1e12);
  for (const execution_model how : {threads, workers_simulated})
    EXPECT_NEAR(time_per(program, how, examples::free_machine(1), 1000), 3e12, 3e10) << name_of(how);
}

TEST(prediction, keeps_the_bounds) {
  // The largest island's work, and all work over the usable CPUs: with enough buffers one of them is
  // reached.
  for (const double cpus : {1.0, 1.5, 2.0, 3.0}) {
    for (const execution_model how : {threads, processes, workers_simulated, simulated}) {
      const description program = examples::pipeline_of(4, 20'000, 5000, 256);
      const double work = 4 * 20'000 * 5000.0, largest = how == simulated ? work : work / 4;
      const double bound = std::max(largest, work / cpus);
      const double time = time_per(program, how, examples::free_machine(cpus), 1);
      EXPECT_GE(time, 0.98 * bound) << name_of(how) << cpus;
      EXPECT_LE(time, 1.02 * bound) << name_of(how) << cpus;
    }
  }
}

/// Exact mean-value analysis of a closed network of single servers: the throughput with so many
/// customers.
double throughput_by_mva(const std::vector<double>& service, unsigned customers) {
  std::vector<double> queue(service.size());
  double throughput = 0;
  for (unsigned k = 1; k <= customers; k++) {
    double cycle = 0;
    for (std::size_t i = 0; i < service.size(); i++) cycle += service[i] * (1 + queue[i]);
    throughput = k / cycle;
    for (std::size_t i = 0; i < service.size(); i++) queue[i] = throughput * service[i] * (1 + queue[i]);
  }
  return throughput;
}

TEST(prediction, of_closed_networks_agrees_with_mean_value_analysis) {
  for (const unsigned customers : {1u, 3u, 10u}) {
    description program = examples::pipeline_of(3, customers, 1000, 64, 1000);
    program.streams.push_back({"back", 8, 64, {}, false, {2}, {0}});
    program.objects[2].sends.push_back({2, 1, {}});
    program.objects[0].receives = {2};
    program.objects[0].activations = 2e6;
    program.objects[1].compute_ns = program.objects[1].spread_ns = 1700;
    program.objects[2].compute_ns = program.objects[2].spread_ns = 600;
    const double expected = 1 / throughput_by_mva({1000, 1700, 600}, customers);
    const double time = time_per(program, threads, examples::free_machine(3), 2e6, thorough);
    EXPECT_NEAR(time, expected, 0.02 * expected) << customers;
  }
}

TEST(prediction, has_the_knee_where_a_round_exceeds_the_capacity) {
  // The first object sends so many messages at once, and waits for one answer.
  const auto time_of = [](double messages) {
    description program = examples::pipeline_of(2, 1, 0, 36);
    program.streams.push_back({"answer", 8, 36, {}, false, {1}, {0}});
    program.objects[0].sends[0].per_input = messages;
    program.objects[0].receives = {1};
    program.objects[0].activations = 1e5;
    program.objects[1].sends.push_back({1, 1 / messages, {}});
    return time_per(program, processes, examples::machine_of(1), 1e5);
  };
  const double below = time_of(36) - time_of(34), across = time_of(38) - time_of(36);
  EXPECT_GT(across, 10 * below) << "two messages more cost two sleeps more";
}

TEST(prediction, of_processes_with_simulated_objects_is_flat) {
  // Two processes answer each other; within each the messages go through so many objects.
  const auto time_of = [](std::size_t objects) {
    description program = examples::pipeline_of(2 * objects, 1, 0, 64);
    program.streams.push_back({"back", 8, 64, {}, false, {2 * objects - 1}, {0}});
    program.objects.back().sends.push_back({program.streams.size() - 1, 1, {}});
    program.objects[0].receives = {program.streams.size() - 1};
    program.objects[0].activations = 1e5;
    configuration how = configuration_of(program, processes_simulated);
    for (std::size_t i = 0; i < 2 * objects; i++) how.groups[i] = i / objects;
    return predict(program, how, examples::machine_of(1)).time_ns;
  };
  EXPECT_LT(time_of(6), 1.1 * time_of(2));
}

TEST(prediction, counts_the_work_whatever_its_spread) {
  const auto predicted = [](double compute_ns, double spread_ns) {
    description program = examples::pipeline_of(2, 1000, 100);
    program.objects[0].compute_ns = compute_ns;
    program.objects[0].spread_ns = spread_ns;
    return predict(program, configuration_of(program, simulated), examples::free_machine(1));
  };
  for (const double spread_ns : {1e-300, 1e-12, 1e-3}) {
    const prediction found = predicted(100, spread_ns);
    EXPECT_NEAR(found.time_ns, 200'000, 1000) << spread_ns;
    EXPECT_NEAR(found.computing[0], 0.5, 0.03) << spread_ns;
  }
  const prediction found = predicted(1e-300, 1);
  EXPECT_NEAR(found.time_ns, 100'000, 1000);
  EXPECT_LT(found.computing[0], 0.01);
}

TEST(prediction, depends_only_on_the_seed) {
  const description program = examples::pipeline_of(5, 1e6, 300, 16, 200);
  const configuration how = configuration_of(program, threads);
  const prediction one = predict(program, how, examples::machine_of(2), {.seed = 7});
  const prediction same = predict(program, how, examples::machine_of(2), {.seed = 7});
  const prediction other = predict(program, how, examples::machine_of(2), {.seed = 8});
  EXPECT_EQ(one.time_ns, same.time_ns);
  EXPECT_EQ(one.events, same.events);
  EXPECT_NE(one.time_ns, other.time_ns);
  EXPECT_NEAR(one.time_ns, other.time_ns, 0.05 * one.time_ns);
}

TEST(prediction, finds_a_cycle_whose_capacity_is_too_small) {
  description program = examples::pipeline_of(2, 4, 10, 1);
  program.streams.push_back({"back", 8, 1, {}, false, {1}, {0}});
  program.objects[0].receives = {1};
  program.objects[0].activations = 1000;
  program.objects[1].sends.push_back({1, 1, {}});
  EXPECT_TRUE(predict(program, configuration_of(program, threads), examples::machine_of(2)).stuck);
  program.streams[0].capacity = 4;
  EXPECT_FALSE(predict(program, configuration_of(program, threads), examples::machine_of(2)).stuck);
}

/// A client that asks one of two servers each time. Its fractions make a little less than one message.
std::string a_choice(const std::string& recorded, double share) {
  return R"({"sukima-objects": 1, )" + recorded + R"(
     "streams": [{"name": "ask a"}, {"name": "ask b"}, {"name": "a"}, {"name": "b"}],
     "objects": [{"name": "client", "starts": 1, "activations": 2000, "receives": ["a", "b"],
                  "sends": [{"stream": "ask a", "per_input": )" +
         std::to_string(share) + R"(}, {"stream": "ask b", "per_input": )" + std::to_string(share) + R"(}]},
                 {"name": "server a", "receives": ["ask a"], "compute_ns": 100, "sends": [{"stream": "a"}]},
                 {"name": "server b", "receives": ["ask b"], "compute_ns": 100,
                  "sends": [{"stream": "b"}]}]})";
}
constexpr const char* whole_run = R"("recorded": {"seconds": 1, "whole": true},)";

TEST(prediction, of_a_recorded_program_is_never_a_deadlock) {
  const auto result_of = [](const std::string& text, execution_model how) {
    const description program = parse_description(text);
    return predict(program, configuration_of(program, how), examples::free_machine(2));
  };
  EXPECT_TRUE(result_of(a_choice("", 0.49), simulated).stuck)
      << "a program that declares that gets a warning";
  for (const execution_model how : all_models) {
    EXPECT_FALSE(result_of(a_choice(whole_run, 0.3), how).stuck) << name_of(how);
    for (const double share : {0.5, 0.49}) {
      const prediction result = result_of(a_choice(whole_run, share), how);
      EXPECT_FALSE(result.stuck) << name_of(how) << share;
      EXPECT_NEAR(result.time_ns, 2000 * 100, 0.05 * 2000 * 100) << name_of(how) << share;
    }
  }
}

TEST(prediction, of_a_recorded_program_makes_up_for_what_its_means_lack) {
  // Too little room for the means of a burst, and a server whose answers are fewer than the questions.
  for (const std::string recorded : {"", whole_run}) {
    description burst = examples::pipeline_of(2, 4, 10, 1);
    burst.streams.push_back({"back", 8, 1, {}, false, {1}, {0}});
    burst.objects[0].receives = {1};
    burst.objects[0].activations = 1000;
    burst.objects[1].sends.push_back({1, 1, {}});
    description fewer = burst;
    fewer.streams[0].capacity = 4;
    fewer.objects[1].sends[0].per_input = 0;
    for (description* const program : {&burst, &fewer}) {
      if (!recorded.empty()) program->recorded = recorded_part{1, true};
      for (const execution_model how : {simulated, threads, workers_simulated}) {
        const prediction result =
            predict(*program, configuration_of(*program, how), examples::free_machine(2));
        EXPECT_EQ(result.stuck, recorded.empty()) << name_of(how);
        EXPECT_GE(result.time_ns, recorded.empty() ? 0 : 1000 * 10 * 0.9) << name_of(how);
      }
    }
  }
}

TEST(prediction, lets_a_server_answer_one_of_its_clients_each_time) {
  const description program = parse_description(R"({"sukima-objects": 1,
     "streams": [{"name": "requests"}, {"name": "a"}, {"name": "b"}, {"name": "c"}],
     "objects": [{"name": "server", "receives": ["requests"], "compute_ns": 100,
                  "sends": [{"stream": "a", "per_input": 0.25}, {"stream": "b", "per_input": 0.25},
                            {"stream": "c", "per_input": 0.5}]},
                 {"name": "client a", "starts": 1, "activations": 1000, "receives": ["a"],
                  "sends": [{"stream": "requests"}]},
                 {"name": "client b", "starts": 1, "activations": 1000, "receives": ["b"],
                  "sends": [{"stream": "requests"}]},
                 {"name": "client c", "starts": 1, "activations": 2000, "receives": ["c"],
                  "sends": [{"stream": "requests"}]}]})");
  const prediction result = predict(program, configuration_of(program, threads), examples::free_machine(4));
  EXPECT_FALSE(result.stuck);
  EXPECT_NEAR(result.time_ns, 4000 * 100, 0.02 * 4000 * 100) << "the server computes for every request";
}

TEST(prediction, knows_that_waking_another_cpu_costs_more_than_a_switch) {
  // Two objects that answer each other: two CPUs gain nothing, and cost a wake-up each way once they
  // sleep.
  description program = examples::pipeline_of(2, 1, 60'000, 4);
  program.streams.push_back({"back", 8, 4, {}, false, {1}, {0}});
  program.objects[0].receives = {1};
  program.objects[0].activations = 1e4;
  program.objects[1].sends.push_back({1, 1, {}});
  const double one = time_per(program, threads, examples::machine_of(1), 1e4);
  const double two = time_per(program, threads, examples::machine_of(2), 1e4);
  EXPECT_NEAR(two - one, 2 * (2000 + 17000 - 600 - 2000), 2000);
}

TEST(prediction, of_a_ring_of_threads_pays_for_a_call_to_another_cpu_each_time) {
  // The thread before has looked around and sleeps, so its CPU is idle when the next one is woken.
  constexpr int members = 10;
  description program = examples::pipeline_of(members, 1, 10'000, 1);
  program.streams.push_back({"back", 8, 1, {}, false, {members - 1}, {0}});
  program.objects.back().sends.push_back({members - 1, 1, {}});
  program.objects.front().receives = {members - 1};
  program.objects.front().activations = 1000;
  EXPECT_GE(time_per(program, threads, examples::machine_of(2), 1000.0 * members), 10'000 + 17'000);
}

TEST(prediction, lets_a_woken_thread_preempt_its_waker) {
  // On one CPU the receiver, which has computed less, runs after each message and sleeps again: two switches.
  description program = examples::pipeline_of(2, 1e5, 3000);
  program.objects[1].compute_ns = 100;
  EXPECT_GE(time_per(program, threads, examples::machine_of(1), 1e5), 3000 + 100 + 2 * 2000);
}

TEST(prediction, pays_for_waits_that_another_group_could_end) {
  // Each message of a stream for one takes two of them, each a suspension where the objects are in two
  // groups.
  machine where = examples::free_machine(1);
  where.costs.switch_ns = 10;
  where.costs.wait_ns = 500;
  const description program = examples::pipeline_of(2, 1e5, 0, 1);
  EXPECT_NEAR(time_per(program, workers_simulated, where, 1e5), 2 * 500, 5);
  EXPECT_NEAR(time_per(program, simulated, where, 1e5), 2 * 10, 1);
}

TEST(prediction, pays_for_resuming_an_object_that_another_cpu_runs) {
  // The stream is full whenever the sender comes back. So each message ends one wait of the sender, whose
  // object the other CPU has, and one of the receiver. The object that ends a wait pays, and the other one
  // continues.
  machine where = examples::free_machine(2);
  const description program = examples::pipeline_of(2, 1e5, 0, 1);
  EXPECT_NEAR(time_per(program, threads_simulated, where, 1e5), 0, 1);
  where.costs.resume_ns = 1000;
  EXPECT_NEAR(time_per(program, threads_simulated, where, 1e5), 1000, 20);
  EXPECT_NEAR(time_per(program, simulated, where, 1e5), 0, 1) << "in one group all objects are on one CPU";
}

TEST(prediction, pays_for_the_thread_that_listens_for_other_processes) {
  // Ending a wait in another process wakes a thread there, which delays the computing thread.
  machine where = examples::free_machine(2);
  where.costs.other_cpu = sleep_cost{1000, 0};
  const description program = examples::pipeline_of(2, 1e5, 0, 1);
  EXPECT_GE(time_per(program, processes_simulated, where, 1e5),
            time_per(program, threads_simulated, where, 1e5) + 900);
}

TEST(prediction, lets_other_threads_run_while_one_sleeps_in_the_kernel) {
  // Four objects in a row, of which each sleeps 1000 times, for 1 ms. A worker or a thread that sleeps uses
  // no CPU, but runs no other object.
  description program = examples::pipeline_of(4, 1000, 1000);
  for (object& one : program.objects) one.blocked_ns = 1e6;
  for (const double cpus : {1.0, 2.0}) {
    const machine where = examples::free_machine(cpus);
    EXPECT_NEAR(time_per(program, threads, where, 1000), 1e6, 0.03e6) << cpus;
    EXPECT_NEAR(time_per(program, simulated, where, 1000), 4e6, 0.1e6) << cpus;
    EXPECT_NEAR(time_per(program, workers_simulated, where, 1000), 4e6 / cpus, 0.1e6) << cpus;
  }
  const prediction one = predict(program, configuration_of(program, threads), examples::free_machine(1));
  EXPECT_NEAR(one.blocked[2], 1, 0.03);
  EXPECT_NEAR(one.busy_cpus, 4e-3, 1e-3);
}

TEST(prediction, lets_a_thread_that_wakes_go_before_others_that_wait_for_the_cpu) {
  // One object only sleeps, the others only compute, for longer than a slice of a CPU.
  description program = examples::pipeline_of(1, 500, 0);
  program.objects[0].blocked_ns = 1e6;
  for (const char* const name : {"a", "b"}) {
    program.objects.push_back(program.objects[0]);
    program.objects.back().name = name;
    program.objects.back().starts = 100;
    program.objects.back().blocked_ns = 0;
    program.objects.back().compute_ns = 5e6;
  }
  const prediction result = predict(program, configuration_of(program, threads), examples::free_machine(1));
  EXPECT_NEAR(result.time_ns, 1e9, 0.03e9) << "the sleeps take no time of the CPU";
}

TEST(prediction, by_the_paper_counts_messages_and_work) {
  const description program = examples::pipeline_of(2, 1000, 500);
  const machine where = examples::machine_of(2);
  const auto paper = [&](execution_model how) {
    return predict_by_paper(program, configuration_of(program, how), where);
  };
  EXPECT_DOUBLE_EQ(paper(simulated), 1000 * 2.7 + 1e6);
  EXPECT_DOUBLE_EQ(paper(threads), 1000 * 46 + 5e5);
  EXPECT_DOUBLE_EQ(paper(processes_simulated), 1000 * 26 + 5e5);
  EXPECT_DOUBLE_EQ(paper(threads_simulated), 1000 * 46 / 2.0 + 5e5);
}

}  // namespace
