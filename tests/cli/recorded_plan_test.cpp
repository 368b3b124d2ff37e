// SPDX-License-Identifier: Apache-2.0
// From what the library writes about a run to the model that a plan chooses. The costs were measured on a
// machine with two virtual CPUs. The recordings are like those of tests/objects/graphs_program.cpp there.
#include <gtest/gtest.h>

#include <objects/recording.hpp>
#include <objects/report.hpp>
#include <objects/shared/planner.hpp>

#include <string>

namespace {

using namespace sukima::objects::model;
using enum execution_model;

plan plan_of(const std::string& recording) {
  plan_request request;
  request.where = {2, parse_costs(R"(sukima-profile 1
message simulated 8 1 3.188 3.656
message simulated 1024 1 41.562 44.312
message simulated 65536 1 2982 3048
message thread 8 1 13.734 14.781
message thread 1024 1 48.938 48.266
message thread 65536 1 3053 3062.5
message thread 8 2 19.812 19.812
message thread 1024 2 186.252 186.252
message thread 65536 2 5987.25 5987.25
message process 8 1 13.734 14.781
message process 1024 1 48.938 48.266
message process 65536 1 3053 3062.5
message process 8 2 22.946 22.946
message process 1024 2 198.716 198.716
message process 65536 2 5937.75 5937.75
objects-switch 26.264
objects-wait 367.406
objects-resume 207.562
objects-sleep same 173 1001
objects-sleep other 11931 12607.5
end
)")};
  return make_plan(sukima::cli::objects::description_of(
                       "sukima-objects-recording 1\nseen 1 whole\n" + recording + "end\n", "graph"),
                   request);
}

const candidate& chosen_of(const plan& made) { return made.ranking[made.chosen]; }

/// One source, six workers on one stream of jobs, and a sink. Two workers got all messages.
std::string fan(const std::string& messages, const std::string& half, const std::string& time,
                const std::string& blocks) {
  std::string text = "stream 8 64 travels jobs\nstream 8 64 travels results\nobject " + messages +
                     " 9.7 29 source\nsends 0 first " + messages + "\n";
  for (const char* const name : {"a", "b"})
    text += "object " + half + " " + time + " 100 " + name + "\n" + blocks + "receives 0 " + half +
            "\nsends 1 first 0\nsends 1 0 " + half + "\n";
  for (const char* const name : {"c", "d", "e", "f"})
    text += "object 1 137 0 " + std::string(name) + "\nreceives 0 0\nsends 1 first 0\n";
  return text + "object " + messages + " 5 20 sink\nreceives 1 " + messages + "\n";
}

TEST(recorded_plans, simulate_a_pipeline_of_cheap_objects) {
  const plan made = plan_of(
      "stream 8 64 travels s0\nstream 8 64 travels s1\nstream 8 64 travels s2\n"
      "object 500000 9 30 source\nsends 0 first 500000\n"
      "object 500000 8 30 one\nreceives 0 500000\nsends 1 first 0\nsends 1 0 500000\n"
      "object 500000 8 30 other\nreceives 1 500000\nsends 2 first 0\nsends 2 1 500000\n"
      "object 500000 8 30 sink\nreceives 2 500000\n");
  EXPECT_EQ(chosen_of(made).how.model, simulated);
  // The computing and the messages; switches add little.
  EXPECT_NEAR(chosen_of(made).simulated.time_ns, 500'000 * (33 + 3 * (3.188 + 3.656)), 0.1 * 27e6);
}

TEST(recorded_plans, give_busy_workers_of_one_stream_both_cpus) {
  const plan made = plan_of(fan("8000", "4000", "8700", ""));
  EXPECT_EQ(chosen_of(made).units, 2u) << name_of(chosen_of(made).how.model);
  EXPECT_NEAR(chosen_of(made).simulated.time_ns, 8000 * 8700 / 2.0, 0.1 * 35e6)
      << "workers that got no message compute, too";
}

TEST(recorded_plans, simulate_cheap_workers_of_one_stream) {
  const plan made = plan_of(fan("300000", "150000", "25", ""));
  EXPECT_EQ(chosen_of(made).units, 1u) << name_of(chosen_of(made).how.model);
}

TEST(recorded_plans, give_workers_that_wait_for_the_kernel_threads) {
  const plan made = plan_of(fan("400", "200", "5000", "blocks 1060000\n"));
  EXPECT_EQ(chosen_of(made).how.model, threads);
  EXPECT_NEAR(chosen_of(made).simulated.time_ns, 400 * 1.065e6 / 6, 0.1 * 71e6);
}

TEST(recorded_plans, simulate_what_goes_round_a_ring) {
  std::string text, streams;
  for (int i = 0; i < 20; i++) {
    const std::string to = std::to_string(i), from = std::to_string((i + 19) % 20);
    streams += "stream 8 1 travels s" + to + "\n";
    text += "object 2000 5 20 o" + to + "\nreceives " + from + " 2000\nsends " + to + " first " +
            (i == 0 ? "1" : "0") + "\nsends " + to + " " + from + " " + (i == 0 ? "1999" : "2000") + "\n";
  }
  EXPECT_EQ(chosen_of(plan_of(streams + text)).how.model, simulated);
}

TEST(recorded_plans, are_json_also_if_a_path_is_not_utf8) {
  sukima::cli::objects::planned planning;
  planning.plan.ranking.resize(1);
  planning.cpus_reason = "the group's quota (/sys/fs/cgroup/b\xfcro/cpu.max)";
  const std::string text = sukima::cli::objects::text_of(sukima::cli::objects::plan_json(planning));
  EXPECT_EQ(nlohmann::json::parse(text).at("cpus_reason"),
            "the group's quota (/sys/fs/cgroup/b\ufffdro/cpu.max)");
}

}  // namespace
