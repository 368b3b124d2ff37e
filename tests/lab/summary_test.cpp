// SPDX-License-Identifier: Apache-2.0
// How many claims and figures a folder decides, on made-up runs.
#include <gtest/gtest.h>
#include <lab/shared/report.hpp>

#include <nlohmann/json.hpp>

#include "support.hpp"

namespace sukima::lab {
namespace {

using test::add_runs;

/// A claim about a figure: `left` takes longer than `right` in an environment, by the bound.
std::string claim_text(const std::string& name, const std::string& figure, const std::string& environments,
                       double bound) {
  return R"({"name": ")" + name + R"(", "text": "Claim )" + name + "." + "\"" +
         (figure.empty() ? "" : ", \"figure\": \"" + figure + "\"") +
         R"(, "left": {"settings": ["slow"]}, "right": {"settings": ["fast"]}, "programs": ["work"],
             "environments": [)" +
         environments + R"(], "relation": "above", "bound": )" + std::to_string(bound) + "}";
}

/// Runs in which `slow` takes twice as long in `one`, and an undecided time in `two`.
recorded_runs recorded(const std::vector<std::string>& claims, const run_choice& choice = {}) {
  std::string text = test::small_experiment, all;
  for (const std::string& one : claims) all += (all.empty() ? "" : ", ") + one;
  const std::size_t at = text.find("\"claims\": [");
  text = text.substr(0, at) + "\"claims\": [" + all + "]}";
  recorded_runs result;
  result.facts.bed = {2, "tcg", {}};
  result.facts.choice = choice;
  result.experiments = {parse_experiment(text)};
  add_runs(result.records, "fast", "one", {1, 1, 1, 1, 1});
  add_runs(result.records, "slow", "one", {2, 2, 2, 2, 2});
  add_runs(result.records, "fast", "two", {1, 1, 1, 1, 1});
  add_runs(result.records, "slow", "two", {1, 1.3, 0.9, 1.2, 1.4});
  return result;
}

const std::string holds = claim_text("a", "Paper, figure 1", "\"one\"", 1.1),
                  fails = claim_text("b", "Paper, figure 2", "\"one\"", 3),
                  fails_too = claim_text("c", "Paper, figure 1", "\"one\"", 3),
                  open = claim_text("d", "Paper, figure 2", "\"two\"", 1.1),
                  open_too = claim_text("e", "Paper, figure 3", "\"two\"", 1.1);

std::string first_paragraph(const recorded_runs& runs) {
  const std::string text = report_text(runs);
  const std::size_t start = text.find("\n\n") + 2;
  return text.substr(start, text.find("\n\n", start) - start);
}

TEST(summary, counts_claims_and_figures) {
  EXPECT_EQ(
      first_paragraph(recorded({holds, fails, fails_too, open, open_too})),
      "Of 5 claims 3 are decided: 1 holds, 2 do not hold, 2 are undecided. Figures and sections of papers "
      "that they are "
      "about: 1 decided, 1 mixed, 1 undecided. A figure is decided if all claims about it are, and "
      "mixed if only some "
      "are. Verdicts are at a confidence of 95 %.");
}

TEST(summary, opens_with_what_does_not_hold) {
  const std::string text = report_text(recorded({holds, fails}));
  EXPECT_NE(
      text.find("What does not hold:\n\n- small: Claim b. (Paper, figure 2)\n  - work, one: 2 (2 to 2)\n\n"),
      std::string::npos)
      << text;
  EXPECT_LT(text.find("What does not hold"), text.find("## small"));
  EXPECT_EQ(report_text(recorded({holds})).find("What does not hold"), std::string::npos);
}

TEST(summary, says_that_runs_were_quick) {
  EXPECT_EQ(first_paragraph(recorded({holds})).find("quick"), std::string::npos);
  EXPECT_NE(first_paragraph(recorded({holds}, {.quick = true})).find("These are quick runs"),
            std::string::npos);
}

TEST(summary, is_in_the_json) {
  const nlohmann::ordered_json summary = report_json(recorded({holds, fails, open}))["summary"];
  EXPECT_EQ(summary["quick"], false);
  EXPECT_EQ(summary["confidence"], 0.95);
  EXPECT_EQ(summary["claims"]["holds"], 1);
  EXPECT_EQ(summary["claims"]["does not hold"], 1);
  EXPECT_EQ(summary["claims"]["undecided"], 1);
  EXPECT_EQ(summary["figures"][0]["state"], "decided");
  EXPECT_EQ(summary["figures"][1]["figure"], "Paper, figure 2");
  EXPECT_EQ(summary["figures"][1]["state"], "mixed");
  EXPECT_EQ(summary["does_not_hold"], nlohmann::ordered_json::array({"small/b"}));
}

TEST(summary, is_on_the_page) {
  const std::string page = report_html(recorded({holds, fails}));
  EXPECT_NE(page.find("Of 2 claims 2 are decided"), std::string::npos) << page;
  EXPECT_NE(page.find("<a href=\"#small/b\">"), std::string::npos) << page;
  EXPECT_NE(page.find("<li>work, one: 2 (2 to 2), does not hold</li>"), std::string::npos) << page;
}

TEST(report, names_the_unit_of_settings_that_count_something) {
  recorded_runs runs = recorded({holds});
  EXPECT_NE(report_text(runs).find("\nSeconds, the mean over the copies: "), std::string::npos);
  runs.experiments.front().settings.front().unit = "sets";
  const std::string text = report_text(runs), page = report_html(runs);
  EXPECT_NE(text.find("\nSeconds (or the unit behind the setting's name), the mean "), std::string::npos)
      << text;
  EXPECT_NE(text.find("| work | fast (sets) | 1 (1 to 1) |"), std::string::npos) << text;
  EXPECT_NE(text.find("| work | slow | 2 (2 to 2) |"), std::string::npos) << text;
  EXPECT_EQ(report_json(runs)["experiments"][0]["cells"][0]["unit"], "sets");
  EXPECT_NE(page.find(">work, sets or s<"), std::string::npos) << page;
}

TEST(claims, that_need_more_cpus_cannot_be_shown) {
  std::string text = holds;
  text.insert(1, "\"least_cpus\": 4, ");
  const auto judged = [&](unsigned cpus) {
    const recorded_runs runs = recorded({text}, {.cpus = cpus});
    const experiment& experiment = runs.experiments.front();
    return judge(experiment, runs.facts.choice, measured(experiment, runs.records), {cpus, "tcg", {}})
        .front();
  };
  EXPECT_EQ(judged(4).outcome, verdict::holds);
  EXPECT_EQ(judged(3).outcome, verdict::cannot_be_shown);
  EXPECT_EQ(judged(3).reason, "it compares what needs more CPUs than the 3 here");
  const experiment experiment = recorded({text}).experiments.front();
  EXPECT_EQ(parse_experiment(experiment_text(experiment)).claims[0].least_cpus, 4u);
}

TEST(claims, of_which_a_part_was_run_say_so) {
  const std::string both = claim_text("a", "", "\"one\", \"four\"", 1.1);
  const std::string quick = report_text(recorded({both}, {.quick = true}));
  EXPECT_NE(quick.find("\n  - Here: 1 of its 2 environments.\n"), std::string::npos) << quick;
}

}  // namespace
}  // namespace sukima::lab
