// SPDX-License-Identifier: Apache-2.0
// Messages of guests are read correctly, and compared with the CPU that the guests got.
#include <gtest/gtest.h>

#include <cmath>

#include "guests/comparison.hpp"
#include "guests/xen.hpp"

namespace {

using namespace sukima::guests;

TEST(guests, reports_of_the_agent_are_read) {
  guest_sample found;
  ASSERT_TRUE(
      parse_sample(R"({"seconds": 2.5, "now": 0.5, "stolen": 0.75, "usable": [0.25, 0.5]})", 7, found));
  EXPECT_EQ(found.arrived, 7);
  EXPECT_EQ(found.now, 0.5);
  EXPECT_EQ(found.stolen, 0.75);
  EXPECT_EQ(found.usable, (std::vector<double>{0.25, 0.5}));
}

TEST(guests, other_lines_are_refused) {
  guest_sample found;
  for (const char* line :
       {"", "SUKIMA-UP", "{", "[]", "17", R"({"now": 1})", R"({"now": 1, "stolen": 0, "usable": 2})",
        R"({"now": "1", "stolen": 0, "usable": []})", R"({"now": 1, "stolen": 0, "usable": ["2"]})"})
    EXPECT_FALSE(parse_sample(line, 0, found)) << line;
}

TEST(guests, only_what_was_said_in_time_counts) {
  const std::vector<guest_sample> samples = {{1, 2.0, 0.0, {1.0, 2.0}},   // before
                                             {5, 0.9, 0.5, {0.5, 0.8}},
                                             {6, 1.1, 0.5, {0.5, 1.0}},
                                             {9, 0.1, 0.9, {0.1, 0.1}}};  // after
  const comparison result = compare("one", 2, samples, 4, 8, 1.0, 1.0);
  EXPECT_EQ(result.lines, 2U);
  EXPECT_NEAR(result.now, 1.0, 1e-9);
  EXPECT_NEAR(result.usable, 0.9, 1e-9);
  EXPECT_NEAR(result.error(), 0.1, 1e-9);
  EXPECT_TRUE(std::isinf(compare("silent", 2, samples, 2, 3, 1.0, 1.0).error()));
}

TEST(guests, the_table_and_the_json_have_every_guest) {
  const std::vector<comparison> all = {compare("guest1", 1, {{5, 0.5, 0.5, {0.5}}}, 4, 8, 0.5, 0.5),
                                       compare("guest2", 1, {}, 4, 8, 0.5, 0.5)};
  const std::string table = table_of(all);
  EXPECT_NE(table.find("guest1"), std::string::npos);
  EXPECT_NE(table.find("guest2"), std::string::npos);
  const std::string json = json_of(all, "tcg");
  EXPECT_NE(json.find("\"hypervisor\": \"tcg\""), std::string::npos);
  EXPECT_NE(json.find("\"error\": null"), std::string::npos) << json;
}

TEST(guests, reports_of_the_first_domain_of_xen_are_read) {
  const std::string console =
      "(XEN) Xen version 4.17\r\n"
      "SUKIMA-UP 3.2\r\n"
      "SUKIMA-FROM 20.0 guest1 0 5.0\r\n"
      "SUKIMA-FROM 20.0 guest1 1 6.0\r\n"
      "SUKIMA-FROM 20.0 guest2 0 7.0\r\n"
      "SUKIMA-TO 30.0 guest1 0 10.0\r\n"
      "SUKIMA-TO 30.0 guest1 1 10.0\r\n"
      "SUKIMA-TO 30.0 guest2 0 9.0\r\n"
      "SUKIMA-SAID guest1 {\"seconds\": 2.5, \"now\": 0.9, \"stolen\": 0.5, \"usable\": [0.5, 1.0]}\r\n"
      "SUKIMA-SAID guest1 [   46.254633] reboot: System halted\r\n"
      "SUKIMA-SAID guest3 {\"seconds\": 2.5, \"now\": 0.9, \"stolen\": 0.5, \"usable\": [0.5, 1.0]}\r\n"
      "SUKIMA-TO nonsense\r\n"
      "SUKIMA-END\r\n";
  const std::vector<comparison> found = read_xen(console, 2);
  ASSERT_EQ(found.size(), 2U) << "the third has no times";
  EXPECT_NEAR(found[0].got, 0.9, 1e-9);
  EXPECT_EQ(found[0].lines, 1U);
  EXPECT_NEAR(found[0].usable, 1.0, 1e-9);
  EXPECT_NEAR(found[1].got, 0.2, 1e-9);
  EXPECT_EQ(found[1].lines, 0U);
  EXPECT_TRUE(read_xen("", 2).empty());
}

}  // namespace
