// SPDX-License-Identifier: Apache-2.0
// Reading experiments, and what follows from their settings and environments.
#include <gtest/gtest.h>
#include <lab/shared/record.hpp>

#include "support.hpp"

namespace sukima::lab {
namespace {

/// The small experiment with one text replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = test::small_experiment;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  try {
    parse_experiment(text);
  } catch (const experiment_error& error) {
    return error.what();
  }
  return "none";
}

TEST(experiment, is_read_with_its_defaults) {
  const experiment small = parse_experiment(test::small_experiment);
  EXPECT_EQ(small.name, "small");
  EXPECT_EQ(small.repetitions, 5u);
  EXPECT_EQ(small.limit_seconds, 60);
  EXPECT_EQ(small.programs[0].system, "sukima");
  EXPECT_EQ(small.programs[0].size, 30);
  EXPECT_EQ(small.environments[1].copies, 2u);
  EXPECT_EQ(small.environments[2].kind, environment_kind::vms);
  EXPECT_FALSE(small.environments[2].quick);
  ASSERT_EQ(small.claims.size(), 1u);
  EXPECT_TRUE(small.claims[0].above);
  EXPECT_EQ(small.claims[0].bound, 1.1);
}

TEST(experiment, is_written_as_it_is_read) {
  const std::string written = experiment_text(parse_experiment(test::small_experiment));
  EXPECT_EQ(experiment_text(parse_experiment(written)), written);
  EXPECT_NE(written.find("\"workers_per_cpu\": 2"), std::string::npos);
}

TEST(experiment, says_where_it_is_wrong) {
  EXPECT_EQ(complaint(changed("\"sukima-lab\": 1", "\"sukima-lab\": 2")),
            "sukima-lab: only version 1 is known");
  EXPECT_EQ(complaint(changed("\"title\"", "\"tilte\"")),
            "the experiment: unknown member 'tilte'; see docs/lab.md");
  EXPECT_EQ(complaint(changed("\"size\": 30", "\"size\": 1.5")),
            "programs[0].size: must be a whole number from 0 to 1000000000000000");
  EXPECT_EQ(complaint(changed("\"kind\": \"share\"", "\"kind\": \"shaer\"")),
            "environments[1].kind: must be 'machine', 'cap', 'fewer', 'share' or 'vms'");
  EXPECT_EQ(complaint(changed("\"copies\": 2", "\"copies\": 0")),
            "environments[1].copies: must be a whole number from 1 to 64");
  EXPECT_EQ(complaint(changed("\"settings\": [\"fast\"]", "\"settings\": [\"fats\"]")),
            "claims[0].right.settings[0]: there is no setting 'fats'");
  EXPECT_EQ(complaint(changed("\"baseline\": \"one\"", "\"baseline\": \"none\"")),
            "environments[1].baseline: there is no environment 'none'");
  EXPECT_EQ(complaint(changed("\"name\": \"slow\"", "\"name\": \"fast\"")),
            "settings[1]: there are two of the name 'fast'");
  EXPECT_EQ(complaint(changed("\"benchmark\": \"fib\"", "\"benchmark\": \"fib\", \"command\": [\"true\"]")),
            "programs[0]: give either 'benchmark' or 'command'");
  EXPECT_EQ(complaint(changed("\"relation\": \"above\"", "\"relation\": \"over\"")),
            "claims[0].relation: must be 'above' or 'below'");
  EXPECT_EQ(
      complaint(changed("\"environments\": [\"one\", \"two\"]", "\"environments\": [\"one\", \"one\"]")),
      "claims[0].environments[1]: 'one' is given twice");
  EXPECT_EQ(complaint("[").substr(0, 24), "the experiment is not JS");
}

TEST(experiment, has_only_members_that_fit_the_kind) {
  EXPECT_EQ(complaint(changed("\"kind\": \"machine\"", "\"kind\": \"machine\", \"copies\": 2")),
            "environments[0].copies: is not for the kind 'machine'");
  EXPECT_EQ(complaint(changed("\"kind\": \"machine\"", "\"kind\": \"cap\"")),
            "environments[0]: the member 'part' is missing");
  EXPECT_EQ(complaint(changed("\"kind\": \"machine\"", "\"kind\": \"machine\", \"period_ms\": 10")),
            "environments[0].period_ms: is not for the kind 'machine'");
  EXPECT_EQ(complaint(changed("\"kind\": \"machine\"", "\"kind\": \"cap\", \"part\": 0.1, \"period_ms\": 9")),
            "environments[0].period_ms: must leave a quota of 1 ms or more");
  EXPECT_EQ(complaint(changed("\"copies\": 2", "\"copies\": 2, \"weights\": [1]")),
            "environments[1].weights: must have one for each copy");
}

TEST(experiment, needs_a_baseline_for_relative_claims) {
  std::string text = changed("\"right\": {\"settings\": [\"fast\"]}", "\"measure\": \"relative\"");
  EXPECT_EQ(complaint(text), "claims[0]: the environment 'one' has no 'baseline', so it has no target times");
  text.replace(text.find("[\"one\", \"two\"]"), 14, "[\"two\"]");
  EXPECT_EQ(complaint(text), "none");
  EXPECT_EQ(complaint(changed("\"right\": {\"settings\": [\"fast\"]}", "\"measure\": \"time\"")),
            "claims[0]: 'right' is missing, which the measures 'time' and 'converted' need");
}

TEST(experiment, names_are_safe_for_files) {
  EXPECT_EQ(complaint(changed("\"name\": \"small\"", "\"name\": \"../small\"")),
            "name: '../small' is not a name: use letters, digits and -._:");
  EXPECT_EQ(complaint(changed("\"name\": \"small\"", "\"name\": \".small\"")),
            "name: a name begins with a letter, a digit, _ or :");
}

TEST(environments, show_the_cpus_of_the_machine_or_of_the_guest) {
  const experiment small = parse_experiment(test::small_experiment);
  EXPECT_EQ(visible_cpus(small.environments[0], 8), 8u);
  EXPECT_EQ(visible_cpus(small.environments[2], 8), 3u);
  EXPECT_EQ(workers_of(small.settings[1], small.environments[2], 8), 6u);
  setting few;
  few.workers_per_cpu = 0.1;
  EXPECT_EQ(workers_of(few, small.environments[0], 2), 1u) << "never less than one";
}

// The definitions of Takayama and Kourai, section 3.1, with their machine of 16 CPUs.
TEST(environments, have_the_target_times_of_the_paper) {
  environment where;
  EXPECT_EQ(target_factor(where, 16), 1);
  where.kind = environment_kind::vms;
  where.copies = 8;
  EXPECT_EQ(target_factor(where, 16), 8) << "T(1) * VMs";
  where = {};
  where.kind = environment_kind::cap;
  where.part = 0.25;
  EXPECT_EQ(target_factor(where, 16), 4) << "T(1600 %) * 1600 / 400";
  where.kind = environment_kind::fewer;
  where.part = 0.75;
  EXPECT_DOUBLE_EQ(target_factor(where, 16), 16.0 / 12) << "T(16) * 16 / 12";
  EXPECT_EQ(remaining_cpus(where, 2), 2u);
  EXPECT_EQ(target_factor(where, 2), 1) << "whole CPUs are left";
  where.part = 0.5;
  EXPECT_EQ(target_factor(where, 2), 2);
}

TEST(environments, with_weights_have_the_mean_of_the_target_times) {
  environment where;
  where.kind = environment_kind::share;
  where.copies = 2;
  where.weights = {1, 3};
  // The heavier one has 3/4 of the CPUs until it ends after 4/3; both have done their work after 2.
  EXPECT_DOUBLE_EQ(target_factor(where, 2), (4.0 / 3 + 2) / 2);
  EXPECT_EQ(cpus_left(where, 2), 1u);
  where.copies = 3;
  where.weights = {1, 1, 2};
  EXPECT_DOUBLE_EQ(target_factor(where, 2), (2.0 + 3 + 3) / 3);
  where.weights = {5, 5, 5};
  EXPECT_DOUBLE_EQ(target_factor(where, 2), 3);
}

// The papers' static rule: what is left of 16 CPUs, rounded up.
TEST(environments, leave_cpus_for_the_static_rule) {
  environment where;
  EXPECT_EQ(cpus_left(where, 16), 16u);
  where.kind = environment_kind::share;
  where.copies = 3;
  EXPECT_EQ(cpus_left(where, 16), 6u) << "16 / 3";
  EXPECT_EQ(cpus_left(where, 9), 3u);
  EXPECT_EQ(cpus_left(where, 2), 1u);
  where = {};
  where.kind = environment_kind::cap;
  where.part = 0.75;
  EXPECT_EQ(cpus_left(where, 16), 12u);
  setting how;
  how.cpus_left = true;
  EXPECT_EQ(workers_of(how, where, 16), 12u);
  how.cpus_left = false;
  EXPECT_EQ(workers_of(how, where, 16), 16u);
}

TEST(experiment, has_commands_that_start_programs_outside_guests_only) {
  const std::string text = changed("\"workers_per_cpu\": 2", "\"cpus\": \"left\", \"through\": [\"env\"]");
  EXPECT_EQ(complaint(text),
            "settings[1].through: is not for experiments with environments of the kind 'vms'");
  std::string without = text;
  without.replace(without.find("\"kind\": \"vms\""), 13, "\"kind\": \"share\"");
  without.replace(without.find("\"vcpus\": 3, "), 12, "");
  ASSERT_EQ(complaint(without), "none");
  const std::string written = experiment_text(parse_experiment(without));
  EXPECT_EQ(experiment_text(parse_experiment(written)), written);
  EXPECT_TRUE(parse_experiment(written).settings[1].cpus_left);
  EXPECT_EQ(parse_experiment(written).settings[1].through, std::vector<std::string>{"env"});
  EXPECT_EQ(complaint(changed("\"workers_per_cpu\": 2", "\"cpus\": \"all\"")),
            "settings[1].cpus: must be 'seen' or 'left'");
}

TEST(experiment, settings_have_arguments_for_the_program) {
  const std::string text = changed("\"workers_per_cpu\": 2", "\"arguments\": [\"--clients\", \"{workers}\"]");
  ASSERT_EQ(complaint(text), "none");
  const experiment read = parse_experiment(experiment_text(parse_experiment(text)));
  EXPECT_EQ(read.settings[1].arguments, (std::vector<std::string>{"--clients", "{workers}"}));
  EXPECT_EQ(complaint(changed("\"workers_per_cpu\": 2", "\"arguments\": []")),
            "settings[1].arguments: must not be empty");
}

TEST(experiment, settings_count_in_a_unit) {
  const experiment read = parse_experiment(
      experiment_text(parse_experiment(changed("\"workers_per_cpu\": 2", "\"unit\": \"tasks\""))));
  EXPECT_EQ(read.settings[0].unit, "s");
  EXPECT_EQ(read.settings[1].unit, "tasks");
}

TEST(experiment, leaves_out_what_needs_more_cpus) {
  const experiment small = parse_experiment(changed("\"copies\": 2", "\"least_cpus\": 4, \"copies\": 2"));
  EXPECT_TRUE(run_choice{.cpus = 4}.takes(small.environments[1]));
  EXPECT_FALSE(run_choice{.cpus = 3}.takes(small.environments[1]));
  EXPECT_TRUE(run_choice{}.takes(small.environments[1])) << "where the machine is not asked for";
  EXPECT_EQ(plan_runs(small, {.cpus = 4}).size(), 5u * 2 * 3);
  EXPECT_EQ(plan_runs(small, {.cpus = 3}).size(), 5u * 2 * 2);
  const std::string few = changed("\"workers_per_cpu\": 2", "\"workers_per_cpu\": 2, \"least_cpus\": 16");
  EXPECT_EQ(plan_runs(parse_experiment(few), {.cpus = 15}).size(), 5u * 1 * 3);
  const std::string written = experiment_text(parse_experiment(few));
  EXPECT_EQ(parse_experiment(written).settings[1].least_cpus, 16u);
  EXPECT_EQ(experiment_text(parse_experiment(written)), written);
  EXPECT_EQ(complaint(changed("\"copies\": 2", "\"least_cpus\": 0, \"copies\": 2")),
            "environments[1].least_cpus: must be a whole number from 1 to 65536");
}

}  // namespace
}  // namespace sukima::lab
