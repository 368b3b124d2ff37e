// SPDX-License-Identifier: Apache-2.0
// Runs of several nodes: their JSON, their table, and what to try.
#include "shared/cluster_run.hpp"

#include <gtest/gtest.h>

#include <base/shared/errors.hpp>
#include <nlohmann/json.hpp>

namespace sukima::cli {
namespace {

using counts = std::map<std::string, std::uint64_t>;

cluster_run run_of(std::vector<counts> nodes, bool hope = false) {
  cluster_run run{.seconds = 2.5, .hope = hope};
  for (counts& c : nodes) run.nodes.push_back({.counts = std::move(c)});
  return run;
}

std::string advice_text(const cluster_run& run) {
  std::string text;
  for (const std::string& sentence : advice_on(run)) text += sentence + "\n";
  return text;
}

/// The line of a table with that label, without repeated blanks.
std::string line_of(const std::string& text, const std::string& label) {
  const std::size_t from = text.find("  " + label + " ");
  if (from == std::string::npos) return {};
  std::string line;
  for (const char c : text.substr(from, text.find('\n', from) - from))
    if (c != ' ' || (!line.empty() && line.back() != ' ')) line += c;
  return line;
}

TEST(cluster_runs, survive_as_json) {
  cluster_run run = run_of({{{"notes", 7}, {"sent_bytes", 900}}, {}}, true);
  run.nodes[1] = {.exit_code = 3, .signal = 0, .host = "beta"};
  const std::string text = json_of(run).dump(2);
  EXPECT_TRUE(is_cluster_run(text));
  EXPECT_TRUE(is_cluster_run(json_of(run).dump()));
  const cluster_run read = read_cluster_run(text, "run.json");
  EXPECT_EQ(json_of(read), json_of(run));
  EXPECT_TRUE(read.hope);
  EXPECT_EQ(read.nodes[0].counts, run.nodes[0].counts);
  EXPECT_EQ(read.nodes[1].host, "beta");
  EXPECT_EQ(json_of(run).at("nodes").at(1),
            (nlohmann::ordered_json{{"node", 1}, {"exit_code", 3}, {"signal", 0}, {"host", "beta"}}));
}

TEST(cluster_runs, differ_from_traces) {
  EXPECT_FALSE(is_cluster_run(""));
  EXPECT_FALSE(is_cluster_run(R"({"displayTimeUnit":"ms","traceEvents":[]})"));
}

TEST(cluster_runs, that_are_damaged_are_refused_with_the_place) {
  const std::string begin = R"({"kind":"sukima cluster run","seconds":1,"hope":false,"nodes":)";
  for (const auto& [text, part] :
       {std::pair(begin, "the run is not JSON"),
        {begin + R"([],"seconds":2})", "seconds: is given twice"},
        {std::string("[]"), "the run: must be a JSON object"},
        {begin + "[]}", "nodes: is empty"},
        {begin + "7}", "nodes: must be an array"},
        {begin + "[{}]}", "nodes[0]: the member 'exit_code' is missing"},
        {begin + R"([{"exit_code":0,"signal":-1}]})", "nodes[0].signal: must be"},
        {begin + R"([{"exit_code":0,"signal":0,"counts":{"notes":1.5}}]})",
         "nodes[0].counts.notes: must be a whole number"},
        {begin + R"([{"exit_code":0,"signal":0,"counts":{"notes":9007199254740992}},)" +
             R"({"exit_code":0,"signal":0,"counts":{"notes":9}}]})",
         "nodes: has counts 'notes' that add up to more than 2^53"},
        {begin + R"([{"exit_code":0,"signal":0,"counts":{"reports":5000000000000000}},)" +
             R"({"exit_code":0,"signal":0}]})",
         "nodes: has counts 'reports' that make more than 2^53 messages"},
        {begin + R"([{"exit_code":0,"signal":0,"host":"\u001b"}]})", "nodes[0].host"}}) {
    try {
      read_cluster_run(text, "x");
      ADD_FAILURE() << text;
    } catch (const process::usage_error& error) {
      EXPECT_EQ(std::string(error.what()).find("'x': " + std::string(part)), 0U) << error.what();
    }
  }
}

TEST(cluster_runs, have_sums_means_and_the_most_with_its_node) {
  const std::string text =
      text_of(run_of({{{"notes", 10}, {"requests", 4}, {"refusals", 1}, {"sent_bytes", 300}},
                      {{"notes", 20}, {"requests", 2}, {"given", 3}, {"sent_bytes", 100}}}));
  EXPECT_EQ(text.substr(0, text.find('\n')), "2 nodes ran for 2.50 s");
  EXPECT_EQ(line_of(text, "messages sent"), "messages sent 30 15.0 20 node 1");
  EXPECT_EQ(line_of(text, "requests for a task"), "requests for a task 6 3.0 4 node 0");
  EXPECT_EQ(line_of(text, "others"), "others 20 10.0 15 node 1");
  EXPECT_EQ(line_of(text, "bytes of these"), "bytes of these 400 200.0 300 node 0");
  EXPECT_EQ(line_of(text, "lifelines"), "");
}

TEST(cluster_runs, name_nodes_that_ended_badly_and_those_without_counts) {
  cluster_run run = run_of({{{"notes", 1}}, {}, {}, {{"notes", 3}}}, true);
  run.nodes[1].signal = run.nodes[2].signal = 9;
  const std::string text = text_of(run);
  EXPECT_NE(text.find("4 nodes ran for 2.50 s, with --hope\n  nodes 1 and 2 were ended by signal 9\n"
                      "  no counts of nodes 1 and 2: killed"),
            std::string::npos)
      << text;
  EXPECT_EQ(line_of(text, "messages sent"), "messages sent 4 2.0 3 node 3");
  for (cluster_node& node : run.nodes) node = {.exit_code = 1};
  EXPECT_NE(text_of(run).find("  nodes 0, 1, 2 and 3 ended with status 1\n"), std::string::npos)
      << text_of(run);
  EXPECT_EQ(line_of(text_of(run), "messages sent"), "");
}

TEST(cluster_runs, show_what_mediators_have_saved) {
  const cluster_run run =
      run_of({{{"notes", 40}, {"bundles", 30}, {"reports", 50}}, {{"notes", 20}, {"bundles", 20}}, {}}, true);
  // 50 reports to two nodes each, and ten messages of other kinds.
  EXPECT_NE(
      text_of(run).find("without mediators it would be 110 messages: the sent ones are 55 % of these\n"),
      std::string::npos)
      << text_of(run);
  EXPECT_EQ(totals_of(run).at("messages_without_mediators"), 110);
  EXPECT_EQ(totals_of(run).at("notes"), 60);
  EXPECT_EQ(totals_of(run_of({{{"bundles", 5}}})).at("messages_without_mediators"), 0)
      << "more bundles than messages";
}

TEST(cluster_runs, have_advice) {
  EXPECT_EQ(advice_text(run_of({{{"notes", 9}, {"given", 1}}, {{"notes", 1}}})),
            "Nothing: the messages show no loss.\n");
  EXPECT_NE(advice_text(run_of({{}, {}})).find("No node has reported counts"), std::string::npos);
  EXPECT_NE(advice_text(run_of({{{"notes", 9}}, {{"notes", 1}}})).find("No task has left its node"),
            std::string::npos);
  EXPECT_NE(advice_text(run_of({{{"notes", 2000}, {"given", 1}, {"requests", 1000}}, {{"refusals", 990}}}))
                .find("99 % of the requests for a task were refused"),
            std::string::npos);
  EXPECT_NE(advice_text(run_of({{{"notes", 9}, {"computed", 100}, {"cut", 11}}, {{"notes", 1}}}, true))
                .find("11 tasks were begun on two nodes, beside 100 that were computed"),
            std::string::npos);
  EXPECT_NE(advice_text(run_of({{{"notes", 10}, {"given", 1}, {"sent_bytes", 10 << 20}}, {{"notes", 0}}}))
                .find("A message has 1024 KiB on average"),
            std::string::npos);
  cluster_run brief = run_of({{{"notes", 9}}, {{"notes", 1}}});
  brief.seconds = 0.05;
  EXPECT_NE(advice_text(brief).find("too short"), std::string::npos);
}

}  // namespace
}  // namespace sukima::cli
