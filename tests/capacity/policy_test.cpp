// SPDX-License-Identifier: Apache-2.0
// The override, the numbers that it may have, and rounding.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "recorded_tree.hpp"

namespace {

using sukima_test::binding_of;
using sukima_test::handle_pointer;
using sukima_test::recorded_tree;
using sukima_test::report_pointer;

TEST(parse_cpus, numbers) {
  const std::pair<const char*, double> good[] = {{"1", 1},
                                                 {"1.5", 1.5},
                                                 {" 2 ", 2},
                                                 {"0.25", 0.25},
                                                 {".5", 0.5},
                                                 {"3.", 3},
                                                 {"65536", 65536},
                                                 {"0001", 1},
                                                 {"1.500000000000000000000000001", 1.5},
                                                 {"0.3", 0.3},
                                                 {"1.1", 1.1},
                                                 {"0.07", 0.07},
                                                 {"65535.9", 65535.9},
                                                 {"0.00000000000000000001", 1e-20},
                                                 {"1.23456789012345678", 1.23456789012345}};
  for (const auto& [text, expected] : good) {
    double value = -1;
    EXPECT_EQ(sukima_capacity_parse_cpus(text, &value), 0) << text;
    EXPECT_EQ(value, expected) << text;
    EXPECT_EQ(sukima_capacity_parse_cpus(text, nullptr), 0) << text;
  }
  for (const char* text : {"", " ", ".", "0", "0.0", "-1", "+1", "1,5", "1e3", "inf", "nan", "two", "1.5.2",
                           "1 2", "65536.5", "65537", "99999999999999999999", "0x10", "1.5x"}) {
    double value = -1;
    EXPECT_EQ(sukima_capacity_parse_cpus(text, &value), EINVAL) << text;
    EXPECT_EQ(value, -1) << text;
  }
}

class override_test : public testing::Test {
 protected:
  recorded_tree tree;
  sukima_capacity_options options{};

  void SetUp() override {
    tree.machine("0-3", "0-3");
    options = tree.options();
  }
  void TearDown() override { unsetenv("SUKIMA_CPUS"); }
};

TEST_F(override_test, wins_over_smaller_and_larger_limits) {
  options.override_text = "1.5";
  report_pointer smaller(sukima_capacity_explain(&options));
  EXPECT_EQ(smaller->facts.usable, 1.5);
  EXPECT_EQ(smaller->facts.cap, 4u);
  EXPECT_EQ(binding_of(*smaller).kind, SUKIMA_CAPACITY_OVERRIDE);
  EXPECT_STREQ(binding_of(*smaller).file, "SUKIMA_CPUS");
  EXPECT_EQ(smaller->error, nullptr);
  options.override_text = "7.25";
  sukima_capacity_facts facts{};
  EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.usable, 7.25);
  EXPECT_EQ(facts.cap, 8u);
  EXPECT_EQ(facts.affinity, 4u);
}

TEST_F(override_test, comes_from_the_environment_unless_it_is_given) {
  sukima_capacity_facts facts{};
  setenv("SUKIMA_CPUS", "2.5", 1);
  options.override_text = nullptr;
  EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.usable, 2.5);
  options.override_text = "";
  EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.usable, 4);
  options.override_text = nullptr;
  setenv("SUKIMA_CPUS", "", 1);
  EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.usable, 4);
}

TEST_F(override_test, of_the_caller_says_nothing_about_another_process) {
  setenv("SUKIMA_CPUS", "2.5", 1);
  options.override_text = nullptr;
  options.pid = 99;
  sukima_capacity_facts facts{};
  EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.usable, 4);
}

TEST_F(override_test, is_read_when_the_handle_is_opened) {
  setenv("SUKIMA_CPUS", "2.5", 1);
  options.override_text = nullptr;
  handle_pointer handle(sukima_capacity_open(&options));
  setenv("SUKIMA_CPUS", "1.5", 1);
  sukima_capacity_facts facts{};
  EXPECT_EQ(sukima_capacity_refresh(handle.get(), &facts), 0);
  EXPECT_EQ(facts.usable, 2.5);
}

TEST_F(override_test, that_is_malformed_is_an_error_with_a_text) {
  options.override_text = "two";
  const char* expected =
      "SUKIMA_CPUS: 'two' is not a number of CPUs; give a decimal number above 0 and at most 65536, such as "
      "2 or 1.5";
  sukima_capacity_facts facts{};
  EXPECT_EQ(sukima_capacity_read(&options, &facts), EINVAL);
  EXPECT_EQ(facts.usable, 4);
  handle_pointer handle(sukima_capacity_open(&options));
  EXPECT_STREQ(sukima_capacity_error(handle.get()), expected);
  report_pointer report(sukima_capacity_explain(&options));
  EXPECT_STREQ(report->error, expected);
  EXPECT_EQ(report->facts.usable, 4);
  const std::string long_text(10000, '7');
  options.override_text = long_text.c_str();
  handle.reset(sukima_capacity_open(&options));
  EXPECT_NE(std::string(sukima_capacity_error(handle.get())).find("777...'"), std::string::npos);
}

TEST_F(override_test, that_is_malformed_is_shown_as_a_terminal_can_show_it) {
  const auto shown = [this](const std::string& text) {
    options.override_text = text.c_str();
    handle_pointer handle(sukima_capacity_open(&options));
    const std::string error = sukima_capacity_error(handle.get());
    return error.substr(0, error.find(" is not a number"));
  };
  EXPECT_EQ(shown("1\x1b[31m\n"), "SUKIMA_CPUS: '1?[31m?'");
  std::string accents;
  for (int i = 0; i < 31; i++) accents += "\u00e9";  // 62 bytes
  EXPECT_EQ(shown(accents), "SUKIMA_CPUS: '" + accents.substr(0, 60) + "...'");
  EXPECT_EQ(shown("x" + accents), "SUKIMA_CPUS: 'x" + accents.substr(0, 58) + "...'") << "no half character";
}

TEST(threads, rounding) {
  const auto threads = [](double cpus, sukima_capacity_rounding rounding) {
    sukima_capacity_policy policy{rounding, 0, 0};
    return sukima_capacity_threads(cpus, &policy);
  };
  struct expectation {
    double cpus;
    uint32_t ceiling, floor, nearest;
  };
  for (const expectation& e : {expectation{0.25, 1, 1, 1},
                               {1, 1, 1, 1},
                               {1.2, 2, 1, 1},
                               {1.5, 2, 1, 2},
                               {1.999999999, 2, 2, 2},
                               {2, 2, 2, 2},
                               {2.000000001, 2, 2, 2},
                               {3.49, 4, 3, 3},
                               {999.5, 1000, 999, 1000},
                               {0.1 + 0.7 + 0.2, 1, 1, 1}}) {
    SCOPED_TRACE(e.cpus);
    EXPECT_EQ(threads(e.cpus, SUKIMA_CAPACITY_CEILING), e.ceiling);
    EXPECT_EQ(threads(e.cpus, SUKIMA_CAPACITY_FLOOR), e.floor);
    EXPECT_EQ(threads(e.cpus, SUKIMA_CAPACITY_NEAREST), e.nearest);
  }
}

TEST(threads, odd_numbers_give_the_minimum) {
  for (double cpus : {0.0, -3.0, std::nan(""), -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(sukima_capacity_threads(cpus, nullptr), 1u);
  }
  EXPECT_EQ(sukima_capacity_threads(std::numeric_limits<double>::infinity(), nullptr), UINT32_MAX);
  EXPECT_EQ(sukima_capacity_threads(1e300, nullptr), UINT32_MAX);
  EXPECT_EQ(sukima_capacity_threads(1.5, nullptr), 2u);
}

TEST(threads, minimum_and_reserve) {
  sukima_capacity_policy policy{SUKIMA_CAPACITY_FLOOR, 2, 0.5};
  EXPECT_EQ(sukima_capacity_threads(0.3, &policy), 2u);
  EXPECT_EQ(sukima_capacity_threads(3.4, &policy), 2u);
  EXPECT_EQ(sukima_capacity_threads(3.5, &policy), 3u);
  policy.reserve = std::nan("");
  EXPECT_EQ(sukima_capacity_threads(3.4, &policy), 3u);
  policy.reserve = -1;
  EXPECT_EQ(sukima_capacity_threads(3.4, &policy), 3u);
}

TEST(kind_name, all) {
  EXPECT_STREQ(sukima_capacity_kind_name(SUKIMA_CAPACITY_ONLINE), "online");
  EXPECT_STREQ(sukima_capacity_kind_name(SUKIMA_CAPACITY_AFFINITY), "affinity");
  EXPECT_STREQ(sukima_capacity_kind_name(SUKIMA_CAPACITY_CPUSET), "cpuset");
  EXPECT_STREQ(sukima_capacity_kind_name(SUKIMA_CAPACITY_QUOTA), "quota");
  EXPECT_STREQ(sukima_capacity_kind_name(SUKIMA_CAPACITY_WEIGHT), "weight");
  EXPECT_STREQ(sukima_capacity_kind_name(SUKIMA_CAPACITY_OVERRIDE), "override");
}

TEST(operator_units, are_those_of_docker_kubernetes_and_systemd) {
  const auto text = [](double cpus, std::size_t size = 128) {
    std::string memory(size, 'x');
    EXPECT_LT(sukima_capacity_operator_units(cpus, memory.data(), memory.size()), size);
    return std::string(memory.c_str());
  };
  EXPECT_EQ(text(1.5), "docker --cpus=1.5, limits.cpu 1500m, CPUQuota=150%");
  EXPECT_EQ(text(2), "docker --cpus=2, limits.cpu 2000m, CPUQuota=200%");
  EXPECT_EQ(text(0.125), "docker --cpus=0.125, limits.cpu 125m, CPUQuota=12.5%");
  EXPECT_EQ(text(1.0 / 3), "docker --cpus=0.333, limits.cpu 333m, CPUQuota=33.33%");
  EXPECT_EQ(text(65536), "docker --cpus=65536, limits.cpu 65536000m, CPUQuota=6553600%");
  EXPECT_EQ(text(0.0004), "docker --cpus=0.001, limits.cpu 1m, CPUQuota=0.04%");
  EXPECT_EQ(text(1.5, 8), "docker ");
  EXPECT_EQ(text(1.5, 1), "");
  EXPECT_EQ(sukima_capacity_operator_units(1.5, nullptr, 0), 0u);
  for (const double none : {0.0, -1.0, 1e9, HUGE_VAL, std::nan("")}) EXPECT_EQ(text(none), "");
}

}  // namespace
