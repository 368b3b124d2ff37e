// SPDX-License-Identifier: Apache-2.0
// Which claims runs bear out.
#include <gtest/gtest.h>
#include <lab/shared/report.hpp>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace sukima::lab {
namespace {

using test::add_runs;

constexpr double stopped = std::numeric_limits<double>::infinity();
const std::vector<double> one_second{1.00, 1.01, 0.99, 1.00, 1.02};
const std::vector<double> two_seconds{2.00, 2.01, 1.99, 2.00, 2.02};

/// The small experiment's claim after runs, with one text of the experiment replaced.
judged_claim judged(const std::vector<record>& records, const std::string& from = "",
                    const std::string& to = "", const test_bed& bed = {2, "tcg", {}},
                    const run_choice& choice = {}) {
  std::string text = test::small_experiment;
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  const experiment experiment = parse_experiment(text);
  return judge(experiment, choice, measured(experiment, records), bed).front();
}

std::vector<record> runs(const std::vector<double>& fast, const std::vector<double>& slow,
                         const std::vector<double>& slow_in_two) {
  std::vector<record> records;
  add_runs(records, "fast", "one", fast);
  add_runs(records, "slow", "one", slow);
  add_runs(records, "fast", "two", fast);
  add_runs(records, "slow", "two", slow_in_two);
  return records;
}

TEST(verdict, holds_where_all_cells_are_beyond_the_bound) {
  const judged_claim one = judged(runs(one_second, two_seconds, two_seconds));
  EXPECT_EQ(one.outcome, verdict::holds);
  ASSERT_EQ(one.cells.size(), 2u);
  EXPECT_NEAR(one.cells[0].ratio->estimate, 2, 0.01);
  EXPECT_LE(one.cells[0].ratio->low, one.cells[0].ratio->estimate);
  EXPECT_GE(one.cells[0].ratio->high, one.cells[0].ratio->estimate);
}

TEST(verdict, does_not_hold_where_one_cell_is_on_the_other_side) {
  const judged_claim one = judged(runs(one_second, two_seconds, one_second));
  EXPECT_EQ(one.outcome, verdict::does_not_hold);
  EXPECT_EQ(one.cells[1].outcome, verdict::does_not_hold);
}

TEST(verdict, is_undecided_where_the_interval_contains_the_bound) {
  const judged_claim one = judged(runs(one_second, {1.0, 1.3, 0.9, 1.2, 1.4}, two_seconds));
  EXPECT_EQ(one.outcome, verdict::undecided);
  EXPECT_EQ(one.reason, "work in one: the interval contains the bound");
}

TEST(verdict, needs_the_share_of_cells_that_the_claim_names) {
  const std::vector<record> half = runs(one_second, two_seconds, one_second);
  EXPECT_EQ(judged(half, "\"bound\": 1.1", "\"bound\": 1.1, \"in\": 0.5").outcome, verdict::holds);
  EXPECT_EQ(judged(half, "\"bound\": 1.1", "\"bound\": 1.1, \"in\": 0.51").outcome, verdict::does_not_hold)
      << "a share is rounded up";
}

TEST(verdict, can_be_below_a_bound) {
  const std::vector<record> records = runs(one_second, two_seconds, two_seconds);
  EXPECT_EQ(judged(records, "\"above\"", "\"below\"").outcome, verdict::does_not_hold);
  EXPECT_EQ(judged(records, "\"above\", \"bound\": 1.1", "\"below\", \"bound\": 2.2").outcome,
            verdict::holds);
}

TEST(verdict, is_none_after_too_few_rounds) {
  const judged_claim one = judged(runs({1, 1, 1, 1}, {2, 2, 2, 2}, two_seconds));
  EXPECT_EQ(one.outcome, verdict::undecided);
  EXPECT_EQ(one.reason, "work in one: only 4 of at least 5 rounds were run");
}

TEST(verdict, compares_the_same_rounds) {
  std::vector<record> records = runs(one_second, two_seconds, two_seconds);
  // A sixth round of one side alone, far off, changes nothing.
  add_runs(records, "slow", "one", {2.00, 2.01, 1.99, 2.00, 2.02, 0.1});
  EXPECT_NEAR(judged(records).cells[0].ratio->low, 2, 0.1);
}

TEST(verdict, takes_a_stopped_run_as_longer_than_all) {
  const std::vector<double> never(5, stopped);
  const judged_claim one = judged(runs(one_second, never, two_seconds));
  EXPECT_EQ(one.outcome, verdict::holds);
  EXPECT_EQ(one.cells[0].ratio->estimate, stopped);
  const judged_claim both = judged(runs(never, never, two_seconds));
  EXPECT_EQ(both.cells[0].outcome, verdict::undecided);
  EXPECT_EQ(both.cells[0].reason, "runs of both sides were stopped at the time limit");
}

// The run took at least the time limit of 60 seconds; its true duration is unknown.
TEST(verdict, takes_a_stopped_run_for_no_longer_than_is_known) {
  const std::vector<double> never(5, stopped);
  const std::vector<record> left = runs(one_second, never, two_seconds);
  EXPECT_EQ(judged(left, "\"bound\": 1.1", "\"bound\": 50").cells[0].outcome, verdict::holds);
  const judged_cell far = judged(left, "\"bound\": 1.1", "\"bound\": 100").cells[0];
  EXPECT_EQ(far.outcome, verdict::undecided);
  EXPECT_EQ(far.reason, "runs were stopped at the time limit: how much longer they take is not known");
  const std::vector<record> right = runs(never, two_seconds, two_seconds);
  EXPECT_EQ(judged(right).cells[0].outcome, verdict::does_not_hold);
  EXPECT_EQ(judged(right, "\"bound\": 1.1", "\"bound\": 0.001").cells[0].outcome, verdict::undecided);
}

TEST(verdict, of_too_few_rounds_is_undecided_though_an_earlier_run_failed) {
  std::vector<record> records = runs({1, 1, 1, 1}, {2, 2, 2, 2}, two_seconds);
  record failed = records.front();
  failed.seconds.clear();
  failed.failure = "ended with exit code 1";
  records.insert(records.begin(), failed);
  failed.round = 4;
  records.push_back(failed);
  const judged_claim one = judged(records);
  EXPECT_EQ(one.outcome, verdict::undecided);
  EXPECT_EQ(one.reason, "work in one: only 4 of at least 5 rounds were run");
}

TEST(verdict, says_what_this_machine_cannot_set_up) {
  std::vector<record> records;
  add_runs(records, "fast", "one", one_second);
  add_runs(records, "slow", "one", two_seconds);
  const judged_claim one = judged(records, "", "", {2, "", {{"share", "groups need root"}}});
  EXPECT_EQ(one.outcome, verdict::cannot_be_shown);
  EXPECT_EQ(one.reason, "work in two: groups need root");
  EXPECT_EQ(one.cells[0].outcome, verdict::holds);
}

TEST(verdict, needs_kvm_where_the_claim_does) {
  const std::vector<record> records = runs(one_second, two_seconds, two_seconds);
  const std::string bound = "\"bound\": 1.1", needs = "\"bound\": 1.1, \"needs\": \"kvm\"";
  EXPECT_EQ(judged(records, bound, needs).outcome, verdict::cannot_be_shown);
  EXPECT_EQ(judged(records, bound, needs, {2, "kvm", {}}).outcome, verdict::holds);
}

TEST(verdict, of_a_quick_run_leaves_out_what_was_not_run) {
  const std::vector<record> records = runs(one_second, two_seconds, two_seconds);
  const judged_claim one = judged(records, "[\"one\", \"two\"]", "[\"four\"]", {2, "", {}}, {.quick = true});
  EXPECT_EQ(one.outcome, verdict::cannot_be_shown);
  EXPECT_TRUE(one.cells.empty());
}

TEST(verdict, of_a_small_machine_leaves_out_what_needs_more_cpus) {
  const std::vector<record> records = runs(one_second, two_seconds, two_seconds);
  const std::string copies = "\"copies\": 2", least = "\"least_cpus\": 4, \"copies\": 2";
  const judged_claim one = judged(records, copies, least, {2, "", {}}, {.cpus = 2});
  EXPECT_EQ(one.outcome, verdict::holds);
  EXPECT_EQ(one.cells.size(), 1u) << "what is left out does not count";
  EXPECT_EQ(judged(records, copies, least, {4, "", {}}, {.cpus = 4}).cells.size(), 2u);
  const std::string setting = "\"workers_per_cpu\": 2", big = "\"least_cpus\": 16";
  const judged_claim none = judged(records, setting, big, {2, "", {}}, {.cpus = 2});
  EXPECT_EQ(none.outcome, verdict::cannot_be_shown);
  EXPECT_EQ(none.reason, "it compares what needs more CPUs than the 2 here");
  const judged_claim both =
      judged(records, "\"workers_per_cpu\": 2", "\"quick\": false", {2, "", {}}, {.quick = true, .cpus = 2});
  EXPECT_EQ(both.reason, "none of its programs and environments is part of a quick run");
}

TEST(verdict, chooses_the_best_or_the_worst_of_several_settings) {
  const std::vector<record> records = runs(one_second, two_seconds, two_seconds);
  const std::string from = "\"right\": {\"settings\": [\"fast\"]}";
  const judged_claim best = judged(records, from, "\"right\": {\"settings\": [\"slow\", \"fast\"]}");
  EXPECT_NEAR(best.cells[0].ratio->estimate, 2, 0.01);
  const judged_claim worst =
      judged(records, from, "\"right\": {\"settings\": [\"fast\", \"slow\"], \"take\": \"worst\"}");
  EXPECT_NEAR(worst.cells[0].ratio->estimate, 1, 0.01);
}

// Yoda et al., section 6.1: the mean over the machines, divided by their number.
TEST(measures, convert_by_the_number_of_copies) {
  const experiment small = parse_experiment(test::small_experiment);
  EXPECT_EQ(value_of(measure::converted, small.environments[2], 8), 2);
  EXPECT_EQ(value_of(measure::time, small.environments[2], 8), 8);
}

TEST(measures, convert_both_sides_of_a_claim) {
  std::vector<record> records = runs(one_second, two_seconds, two_seconds);
  // Two copies that take two seconds each do as much a second as one that takes one.
  const judged_claim one =
      judged(records, "\"left\": {\"settings\": [\"slow\"]}",
             "\"measure\": \"converted\", \"left\": {\"settings\": [\"slow\"], \"environment\": \"two\"}");
  EXPECT_NEAR(one.cells[0].ratio->estimate, 1, 0.02) << "two in place of one";
}

TEST(measures, compare_with_target_times) {
  const experiment small = parse_experiment(test::small_experiment);
  std::vector<record> records;
  add_runs(records, "fast", "one", one_second);
  add_runs(records, "fast", "two", {3, 3, 3, 3, 3});
  const measured times(small, records);
  const auto ratio = relative_time(small.programs[0], small.settings[0], small.environments[1], times, 2);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(*ratio, 1.5, 0.01) << "3 s, where T(1) * 2 is 2 s";
  EXPECT_FALSE(relative_time(small.programs[0], small.settings[0], small.environments[0], times, 2));
  std::string text = test::small_experiment;
  const std::string from =
      "\"left\": {\"settings\": [\"slow\"]},\n              \"right\": {\"settings\": [\"fast\"]}, ";
  ASSERT_NE(text.find(from), std::string::npos);
  text.replace(text.find(from), from.size(),
               "\"measure\": \"relative\", \"left\": {\"settings\": [\"fast\"]}, ");
  text.replace(text.find("[\"one\", \"two\"]"), 14, "[\"two\"]");
  const judged_claim one = judge(parse_experiment(text), {}, times, {2, "", {}}).front();
  EXPECT_EQ(one.outcome, verdict::holds);
  EXPECT_NEAR(one.cells[0].ratio->estimate, 1.5, 0.01);
  const std::string baseline = "{\"name\": \"one\", \"kind\": \"machine\"";
  text.replace(text.find(baseline), baseline.size(), baseline + ", \"quick\": false");
  const judged_claim alone = judge(parse_experiment(text), {.quick = true}, times, {2, "", {}}).front();
  EXPECT_EQ(alone.outcome, verdict::cannot_be_shown) << "its target times are not part of a quick run";
  EXPECT_TRUE(alone.cells.empty());
}

TEST(report, has_tables_verdicts_and_the_worst_of_each_row) {
  recorded_runs all;
  all.facts.machine = {{"cpu", "made up"}};
  all.facts.bed = {2, "tcg", {{"vms", "no QEMU"}}};
  std::string text = test::small_experiment;
  text.replace(text.find("\"repetitions\""), 0, "\"paper_cpus\": 16, ");
  text.replace(text.find("\"text\": \"It"), 0, "\"figure\": \"000 figure 3\", ");
  all.experiments = {parse_experiment(text)};
  all.records = runs(one_second, two_seconds, {5, 5, 5, 5, 5});
  const std::string page = report_text(all);
  EXPECT_NE(page.find("| work | fast | 1 (1 to 1.01) | 1 (1 to 1.01) | – |\n"), std::string::npos) << page;
  EXPECT_NE(page.find("| work | slow | – | 1.25 | – | 1.25 |\n"), std::string::npos) << page;
  EXPECT_NE(page.find("1 claim: 1 holds.\n"), std::string::npos) << page;
  EXPECT_NE(page.find("- **holds**: It is slower. (000 figure 3; scaled from 16 CPUs to 2)\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("- no 'vms' here: no QEMU\n"), std::string::npos) << page;
  EXPECT_EQ(report_text(all), page) << "the same runs give the same page";
  const nlohmann::ordered_json figures = report_json(all);
  EXPECT_EQ(figures["experiments"][0]["claims"][0]["verdict"], "holds");
  EXPECT_EQ(figures["experiments"][0]["cells"].size(), 6u);
}

TEST(verdicts, of_what_no_experiment_shows_have_the_reason_of_the_file) {
  std::string text = test::small_experiment;
  const std::size_t from = text.find("\"left\": {");
  text.replace(from, text.find("\"bound\"") - from, "\"missing\": \"it cannot be done\"}]}");
  text.resize(text.find("}]}") + 3);
  const judged_claim one =
      judge(parse_experiment(text), {}, measured(parse_experiment(text), {}), {}).front();
  EXPECT_EQ(one.outcome, verdict::cannot_be_shown);
  EXPECT_EQ(one.reason, "it cannot be done");
  EXPECT_NE(experiment_text(parse_experiment(text)).find("it cannot be done"), std::string::npos);
}

TEST(plan, expects_times_of_the_file_and_of_the_runs_so_far) {
  std::string text = test::small_experiment;
  text.replace(text.find("\"size\": 30"), 10, "\"seconds\": 10, \"quick_seconds\": 1");
  const experiment experiment = parse_experiment(text);
  // Five rounds of two settings: 10 s alone, 20 s in each of two, 40 s in each of four, which boot for 6.5 s.
  EXPECT_EQ(plan_text({experiment}, {}, {}, 2).substr(0, 54),
            "small: 30 runs, 0 of them done; about 13 min, at most ");
  EXPECT_EQ(plan_text({experiment}, {.quick = true}, {}, 2).substr(0, 50),
            "small: 8 runs, 0 of them done; about 12 s, at most");
  std::vector<record> records;
  add_runs(records, "fast", "one", {1});
  records[0].wall_seconds = 31;
  EXPECT_EQ(plan_text({experiment}, {.quick = true}, records, 2).substr(0, 50),
            "small: 8 runs, 1 of them done; about 41 s, at most");
}

TEST(durations, are_texts_of_two_units_at_most) {
  EXPECT_EQ(duration_text(2.2), "3 s");
  EXPECT_EQ(duration_text(61), "2 min");
  EXPECT_EQ(duration_text(3900), "1 h 5 min");
}

}  // namespace
}  // namespace sukima::lab
