// SPDX-License-Identifier: Apache-2.0
// The number of workers that the CPU use predicts (Takayama and Kourai, figure 13), on recorded runs.
#include <gtest/gtest.h>
#include <lab/shared/report.hpp>

#include <nlohmann/json.hpp>

namespace sukima::lab {
namespace {

constexpr const char* counts = R"({
  "sukima-lab": 1, "name": "counts", "title": "Counts", "repetitions": 5,
  "programs": [{"name": "lu", "command": ["lu"]}],
  "settings": [{"name": "times-1", "cpus": "left"}, {"name": "times-2", "cpus": "left", "workers_per_cpu": 2},
               {"name": "times-3", "cpus": "left", "workers_per_cpu": 3},
               {"name": "times-4", "cpus": "left", "workers_per_cpu": 4}],
  "environments": [{"name": "fewer", "kind": "fewer", "part": 0.5}],
  "claims": [{"name": "use-predicts", "text": "The CPU use predicts the best number.",
              "left": {"settings": ["times-1", "times-2", "times-3", "times-4"], "take": "use"},
              "right": {"settings": ["times-1", "times-2", "times-3", "times-4"]}, "programs": ["lu"],
              "environments": ["fewer"], "relation": "below", "bound": 1.03}]
})";

/// As `sukima lab` stores it: five rounds with these seconds and this use of one copy, setting by setting.
/// \param use the text of the member, such as "[1.0]"; empty: a run whose use was not measured
std::vector<record> recorded_use(const std::vector<std::pair<std::string, std::string>>& seconds_and_use) {
  std::string text;
  for (std::size_t i = 0; i < seconds_and_use.size(); ++i)
    for (int round = 0; round < 5; ++round) {
      const auto& [seconds, use] = seconds_and_use[i];
      text += R"({"experiment":"counts","program":"lu","setting":"times-)" + std::to_string(i + 1) +
              R"(","environment":"fewer","round":)" + std::to_string(round) + ",\"seconds\":" + seconds +
              (use.empty() ? "" : ",\"use\":" + use) + ",\"wall_seconds\":1}\n";
    }
  return parse_records(text, "the runs");
}

judged_cell judged_use(const std::vector<std::pair<std::string, std::string>>& seconds_and_use) {
  const experiment experiment = parse_experiment(counts);
  const std::vector<record> records = recorded_use(seconds_and_use);
  const judged_claim one = judge(experiment, {}, measured(experiment, records), {2, "", {}}).front();
  EXPECT_EQ(one.cells.size(), 1u);
  return one.cells.front();
}

// Pattern a: all CPUs are used from the first count on.
TEST(use, that_stays_shows_the_first_count) {
  const judged_cell one =
      judged_use({{"[1]", "[1.0]"}, {"[2]", "[1.0]"}, {"[3]", "[0.99]"}, {"[4]", "[1.0]"}});
  EXPECT_EQ(one.taken, "times-1");
  EXPECT_EQ(one.outcome, verdict::holds);
}

// Pattern b. By the use the third count is right; here the fourth is faster, so the use does not show it.
TEST(use, that_rises_shows_where_it_stops_rising) {
  const judged_cell one =
      judged_use({{"[4]", "[1.0]"}, {"[3]", "[1.5]"}, {"[2]", "[2.0]"}, {"[1]", "[2.0]"}});
  EXPECT_EQ(one.taken, "times-3");
  EXPECT_DOUBLE_EQ(one.ratio->estimate, 2);
  EXPECT_EQ(one.outcome, verdict::does_not_hold);
}

// Pattern c.
TEST(use, that_falls_shows_where_it_stops_falling) {
  const judged_cell one =
      judged_use({{"[2]", "[2.0]"}, {"[1]", "[1.2]"}, {"[2]", "[1.2]"}, {"[3]", "[1.9]"}});
  EXPECT_EQ(one.taken, "times-2");
  EXPECT_EQ(one.outcome, verdict::holds);
}

// Pattern d.
TEST(use, that_turns_again_and_again_shows_the_first_count) {
  const judged_cell one =
      judged_use({{"[1]", "[1.0]"}, {"[2]", "[2.0]"}, {"[3]", "[1.0]"}, {"[4]", "[2.0]"}});
  EXPECT_EQ(one.taken, "times-1");
}

TEST(use, of_copies_is_their_mean) {
  const judged_cell one = judged_use(
      {{"[3,3]", "[0.5,0.5]"}, {"[2,2]", "[0.1,1.9]"}, {"[1,1]", "[1.0,2.0]"}, {"[2,2]", "[1.5,1.5]"}});
  EXPECT_EQ(one.taken, "times-3");
}

TEST(use, that_was_not_measured_predicts_nothing) {
  const judged_cell one = judged_use({{"[1]", "[1.0]"}, {"[2]", ""}, {"[3]", "[1.0]"}, {"[4]", "[1.0]"}});
  EXPECT_EQ(one.taken, "");
  EXPECT_EQ(one.outcome, verdict::undecided);
  EXPECT_EQ(one.reason, "the CPU use of fewer than 5 rounds is known");
}

TEST(use, cannot_be_shown_where_nothing_could_be_set_up) {
  const experiment experiment = parse_experiment(counts);
  const std::vector<record> records;
  const test_bed bed{2, "", {{"fewer", "there is no taskset here"}}};
  const judged_claim one = judge(experiment, {}, measured(experiment, records), bed).front();
  EXPECT_EQ(one.outcome, verdict::cannot_be_shown);
  EXPECT_EQ(one.reason, "lu in fewer: there is no taskset here");
}

TEST(use, is_in_the_report_with_the_count_that_it_predicts) {
  recorded_runs all;
  all.facts.bed.cpus = 2;
  all.experiments = {parse_experiment(counts)};
  all.records = recorded_use({{"[1]", "[1.0]"}, {"[2]", "[1.0]"}, {"[3]", "[1.0]"}, {"[4]", "[1.0]"}});
  EXPECT_NE(report_text(all).find("lu, fewer (by the use: times-1): 1 (1 to 1), holds"), std::string::npos)
      << report_text(all);
  EXPECT_EQ(report_json(all)["experiments"][0]["claims"][0]["cells"][0]["taken"], "times-1");
}

std::string refusal(const std::string& from, const std::string& to) {
  std::string text = counts;
  EXPECT_NE(text.find(from), std::string::npos) << from;
  text.replace(text.find(from), from.size(), to);
  try {
    parse_experiment(text);
  } catch (const experiment_error& error) {
    return error.what();
  }
  return "none";
}

TEST(use, is_taken_of_growing_counts_outside_machines) {
  EXPECT_EQ(
      refusal("\"left\": {\"settings\": [\"times-1\", \"times-2\"",
              "\"left\": {\"settings\": [\"times-2\", \"times-1\""),
      "claims[0].left.settings: 'use' takes settings with growing 'workers_per_cpu' and the same 'cpus'");
  EXPECT_EQ(
      refusal("\"kind\": \"fewer\", \"part\": 0.5", "\"kind\": \"vms\""),
      "claims[0].left: 'use' is not for virtual machines, as 'fewer': the lab does not see which CPU time "
      "is the program's");
  EXPECT_EQ(refusal("\"times-4\"]}, \"programs\"", "\"times-4\"], \"take\": \"use\"}, \"programs\""),
            "claims[0].right: 'use' is for the left side");
  EXPECT_EQ(refusal("\"take\": \"use\"", "\"take\": \"all\""),
            "claims[0].left.take: must be 'best', 'worst' or 'use'");
}

TEST(use, is_read_as_it_was_written) {
  const record one = recorded_use({{"[1,2]", "[0.5,1.5]"}}).front();
  EXPECT_EQ(one.use, (std::vector{0.5, 1.5}));
  EXPECT_EQ(parse_record(record_line(one)), one);
  EXPECT_THROW(recorded_use({{"[1,2]", "[0.5]"}}), experiment_error);
  EXPECT_THROW(recorded_use({{"[1]", "[-0.5]"}}), experiment_error);
}

}  // namespace
}  // namespace sukima::lab
