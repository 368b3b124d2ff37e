// SPDX-License-Identifier: Apache-2.0
// Verdicts as events of the log of decisions.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <set>

#include "driver.hpp"

namespace {

using namespace driving;
using nlohmann::json;

TEST(verdict, is_an_event_with_its_figures) {
  verdict one;
  one.at = 12.5;
  one.vm = "web";
  one.quantity = "threads";
  one.before = 4;
  one.after = 5;
  one.reason = "5 is 10.0 % faster than 4";
  one.kind = verdict_kind::better;
  one.state = optimiser_state::trial;
  one.figures.tried = 5;
  one.figures.mean = 0.0953;
  one.figures.cost = 0.25;
  EXPECT_EQ(json_of(one), json::parse(R"({"at": 12.5, "part": "host", "vm": "web", "what": "threads",
    "before": 4, "after": 5, "reason": "5 is 10.0 % faster than 4", "verdict": "better", "state": "try",
    "tried": 5, "mean": 0.0953, "cost": 0.25})"));
}

TEST(verdict, describes_a_trial_in_words_and_figures) {
  driver d({.most = 8, .quantity = "vcpus"});
  d.rate = [](unsigned n) { return n == 5 ? 11.0 : n == 7 ? 9.9 : 5.0; };
  d.open();
  d.windows_until(optimiser_state::rest);
  const json event = json_of(d.all(verdict_kind::better).at(0));
  EXPECT_EQ(event["reason"], "5 is 120.0 % faster than 4");
  EXPECT_EQ(event["what"], "vcpus");
  EXPECT_EQ(event["before"], 4);
  EXPECT_EQ(event["after"], 5);
  EXPECT_EQ(event["windows"], 2);
  EXPECT_NEAR(event["mean"].get<double>(), std::log(2.2), 1e-9);
  EXPECT_GT(event["error"].get<double>(), 0);
  EXPECT_DOUBLE_EQ(event["noise"].get<double>(), 0.01);
  EXPECT_DOUBLE_EQ(event["effect"].get<double>(), 0.03);
  EXPECT_DOUBLE_EQ(event["errors"].get<double>(), 2.6);
  EXPECT_DOUBLE_EQ(event["usable"].get<double>(), 4);
  const json slower = json_of(d.all(verdict_kind::worse).at(0));
  EXPECT_EQ(slower["reason"], "7 is 10.0 % slower than 5");
  EXPECT_EQ(slower["before"], slower["after"]);
}

TEST(verdict, describes_a_sweep_in_words_and_figures) {
  driver d({.most = 8, .by = optimise_by::use});
  d.rate = [](unsigned n) { return n < 6 ? 0.5 * n : 3.0; };
  d.open();
  d.windows_until(optimiser_state::rest);
  const json event = json_of(d.verdicts.back());
  EXPECT_EQ(event["verdict"], "swept");
  EXPECT_EQ(event["reason"], "the CPU use above the estimate rises");
  EXPECT_EQ(event["shape"], 2);
  EXPECT_EQ(event["windows"], 6);
  EXPECT_EQ(event["before"], 4);
  EXPECT_EQ(event["after"], 6);
}

TEST(verdict, names_are_different_words) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(verdict_kind::idled); i++)
    names.insert(name_of(static_cast<verdict_kind>(i)));
  EXPECT_EQ(names.size(), 12U);
  names.clear();
  for (int i = 0; i <= static_cast<int>(optimiser_state::hold); i++)
    names.insert(name_of(static_cast<optimiser_state>(i)));
  EXPECT_EQ(names, (std::set<std::string_view>{"idle", "learn", "try", "rest", "sweep", "back", "hold"}));
  names.clear();
  for (int i = 0; i <= static_cast<int>(vm_event::ended); i++)
    names.insert(name_of(static_cast<vm_event>(i)));
  EXPECT_EQ(names.size(), 8U);
}

TEST(verdict, a_name_that_is_not_text_can_be_written) {
  verdict one;
  one.vm = "\xff\"\n";
  const std::string line = json_of(one).dump(-1, ' ', true, json::error_handler_t::replace);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(line)["vm"], "\xef\xbf\xbd\"\n");
}

}  // namespace
