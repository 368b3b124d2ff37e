// SPDX-License-Identifier: Apache-2.0
// The costs of messages as lines of the machine profile.
#include <gtest/gtest.h>
#include <sukima/capacity.h>

#include <filesystem>
#include <fstream>

#include "examples.hpp"

namespace {

using namespace sukima::objects::model;

constexpr const char* profile =
    "sukima-profile 1\nmachine 0123456789abcdef\nwritten 5\nvalid 60\nswitch 1\nwake 2\nlater words\nend\n";

TEST(costs, are_read_and_written) {
  const cost_table costs = examples::measured_costs();
  const std::string text = profile_with_costs(profile, costs);
  const cost_table again = parse_costs(text);
  EXPECT_EQ(again.messages.size(), 13u);
  EXPECT_EQ(profile_with_costs(text, again), text) << "costs are replaced, not repeated";
  EXPECT_EQ(again.switch_ns, 8);
  EXPECT_TRUE(again.same_cpu.has_value());
  EXPECT_EQ(again.other_cpu.value_or(sleep_cost{}).until_ns, 17000);
  EXPECT_NE(text.find("\nlater words\n"), std::string::npos);
  EXPECT_NE(text.find("\nmessage thread 8 2 46.000 46.000\n"), std::string::npos);
}

TEST(costs, keep_their_quartiles) {
  const cost_table costs = parse_costs(
      "message simulated 8 1 3 4 2.5 3.5 3.75 4.5\nmessage simulated 64 1 5 6\nobjects-switch 90 85 "
      "100\nend\n");
  const cost_table again = parse_costs(profile_with_costs(profile, costs));
  const message_cost small = again.of(unit::simulated, 8, 1);
  const message_quartiles around = small.spread.value_or(message_quartiles{});
  EXPECT_EQ(around.sender.high, 3.5);
  EXPECT_EQ(around.receiver.low, 3.75);
  EXPECT_EQ(again.switch_quartiles.value_or(quartiles{}).high, 100);
  EXPECT_EQ(parse_costs(profile_with_costs(profile, parse_costs("objects-wait 400\nend\n"))).wait_ns, 400);
  EXPECT_EQ(parse_costs(profile_with_costs(profile, parse_costs("objects-resume 227\nend\n"))).resume_ns,
            227);
  EXPECT_FALSE(again.of(unit::simulated, 64, 1).spread);
  EXPECT_FALSE(again.of(unit::simulated, 36, 1).spread) << "that size was not measured";
  cost_table merged = parse_costs("objects-switch 8\nend\n");
  merged.merge(again);
  EXPECT_FALSE(merged.resume_ns);
  merged.merge(parse_costs("objects-resume 227 220 234\nend\n"));
  EXPECT_EQ(merged.resume_quartiles.value_or(quartiles{}).high, 234);
  EXPECT_EQ(merged.switch_quartiles.value_or(quartiles{}).low, 85);
}

TEST(costs, are_skipped_by_the_reader_of_the_profile) {
  const auto path = std::filesystem::temp_directory_path() / ("sukima-costs-" + std::to_string(getpid()));
  std::ofstream(path) << profile_with_costs(profile, examples::measured_costs());
  char error[200] = "";
  sukima_capacity_profile* read = sukima_capacity_profile_read(path.c_str(), error, sizeof error);
  std::filesystem::remove(path);
  ASSERT_NE(read, nullptr) << error;
  EXPECT_EQ(read->wake_ns, 2);
  sukima_capacity_profile_free(read);
}

TEST(costs, refuse_malformed_lines_with_their_number) {
  const auto refusal_of = [](const std::string& line) -> std::string {
    try {
      parse_costs("sukima-profile 1\n" + line + "\nend\n");
    } catch (const costs_error& error) {
      return error.what();
    }
    return "accepted";
  };
  for (const char* line :
       {"message thread 8 1 7", "message socket 8 1 7 7", "message thread 8 0 7 7", "message thread 8 1 -7 7",
        "message thread 8 1 7 7 7", "message thread 8 1 7 7 6 8", "message thread 8 1 7 7 8 6 6 8",
        "message thread 8 1 7 7 6 8 6 8 1", "objects-switch 8 7", "objects-switch 8 9 7",
        "message thread 8 1 nan 7", "objects-switch", "objects-switch 8ns", "objects-sleep near 1 2",
        "objects-sleep same 1"}) {
    EXPECT_EQ(refusal_of(line),
              "line 2 of the machine profile is malformed; run 'sukima objects calibrate' to measure again")
        << line;
  }
  EXPECT_EQ(refusal_of("message thread 8 1 7 7"), "accepted");
  EXPECT_EQ(refusal_of("messages 1"), "accepted");
  EXPECT_THROW(profile_with_costs("sukima-profile 1\n", {}), costs_error);
}

TEST(costs, lie_between_those_of_the_measured_sizes) {
  const cost_table costs = examples::measured_costs();
  EXPECT_DOUBLE_EQ(costs.of(unit::simulated, 36, 1).sender_ns, 2.6);
  EXPECT_DOUBLE_EQ(costs.of(unit::simulated, 8, 1).sender_ns, 1.35);
  EXPECT_DOUBLE_EQ(costs.of(unit::simulated, 1, 1).sender_ns, 1.35);
  EXPECT_DOUBLE_EQ(costs.of(unit::simulated, 131072, 1).receiver_ns, 1370);
  EXPECT_DOUBLE_EQ(costs.of(unit::thread, 8, 2).sender_ns, 46);
  EXPECT_DOUBLE_EQ(costs.of(unit::thread, 8, 16).sender_ns, 46);
  EXPECT_DOUBLE_EQ(costs.of(unit::thread, 8, 1).sender_ns, 7);
}

TEST(costs, that_are_missing_are_named) {
  cost_table costs;
  EXPECT_EQ(missing_costs(costs, execution_model::threads), "message thread");
  costs.add({unit::thread, 8, 1, 7, 7});
  EXPECT_EQ(missing_costs(costs, execution_model::threads), "objects-sleep same");
  costs.same_cpu = sleep_cost{1, 2};
  EXPECT_EQ(missing_costs(costs, execution_model::threads), "");
  EXPECT_EQ(missing_costs(costs, execution_model::threads_simulated), "message simulated");
  costs.add({unit::simulated, 8, 1, 1, 1});
  EXPECT_EQ(missing_costs(costs, execution_model::simulated), "objects-switch");
}

}  // namespace
