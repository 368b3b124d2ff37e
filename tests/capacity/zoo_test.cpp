// SPDX-License-Identifier: Apache-2.0
// The zoo: trees of containers, virtual machines and hosts as they are found, with the answer for each.
//
// A file zoo/NAME.tree holds a title, the expected answer, and the files of the tree:
//     # title
//     == expect
//     usable 1.4
//     == /proc/self/cgroup
//     0::/
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>

#include "recorded_tree.hpp"

namespace {

using sukima_test::recorded_tree;
using sukima_test::report_pointer;

std::map<std::string, std::string> expected_of(const sukima_test::tree_file& one) {
  std::istringstream lines(one.sections.contains("expect") ? one.sections.at("expect") : "");
  std::map<std::string, std::string> result;
  std::string key, value;
  while (lines >> key >> value) result[key] = value;
  return result;
}

sukima_test::tree_file load(const std::string& name, recorded_tree& tree) {
  return sukima_test::load_tree(std::string(SUKIMA_ZOO) + "/" + name + ".tree", tree);
}

std::string decimal(double value) {
  if (std::isinf(value)) return "none";
  std::ostringstream out;
  out.precision(2);
  out << value;
  if (out.str().find('e') == std::string::npos && std::abs(std::stod(out.str()) - value) < 1e-9)
    return out.str();
  std::ostringstream exact;
  exact << std::round(value * 10000) / 10000;
  return exact.str();
}

std::map<std::string, std::string> answer(const sukima_capacity_report& report, const std::string& root) {
  const sukima_capacity_facts& facts = report.facts;
  std::string file;
  for (std::size_t i = 0; i < report.limit_count; i++) {
    if (report.limits[i].is_binding != 0) file = report.limits[i].file;
  }
  if (file.starts_with(root)) file = file.substr(root.size());
  // A blank would end the expected value.
  std::ranges::replace(file, ' ', '_');
  return {{"usable", decimal(facts.usable)},
          {"cap", std::to_string(facts.cap)},
          {"binding", sukima_capacity_kind_name(facts.binding)},
          {"file", file},
          {"weight", decimal(facts.weight)},
          {"quota", decimal(facts.quota)},
          {"period", std::to_string(facts.quota_period_us)},
          {"online", std::to_string(facts.online)},
          {"affinity", std::to_string(facts.affinity)},
          {"cpuset", std::to_string(facts.cpuset)},
          {"hidden", std::to_string(facts.ancestors_hidden)},
          {"notes", std::to_string(facts.note_count)}};
}

class zoo : public testing::TestWithParam<std::string> {};

TEST_P(zoo, has_the_expected_answer) {
  recorded_tree tree;
  const sukima_test::tree_file one = load(GetParam(), tree);
  SCOPED_TRACE(one.title);
  ASSERT_FALSE(one.title.empty());
  const std::map<std::string, std::string> expected = expected_of(one);
  ASSERT_TRUE(expected.contains("usable") && expected.contains("cap") && expected.contains("binding"));
  sukima_capacity_options options = tree.options();
  const report_pointer report(sukima_capacity_explain(&options));
  ASSERT_NE(report, nullptr);
  const std::map<std::string, std::string> found = answer(*report, tree.root());
  for (const auto& [key, value] : expected) {
    ASSERT_TRUE(found.contains(key)) << key << " is nothing that can be expected";
    EXPECT_EQ(found.at(key), value) << key << "\n" << sukima_test::notes_of(*report);
  }
}

// Whatever the tree is, an estimator works in it, and never says more than the facts.
TEST_P(zoo, an_estimator_keeps_to_the_facts) {
  recorded_tree tree;
  load(GetParam(), tree);
  sukima_capacity_options options = tree.options();
  sukima_capacity_estimator* const estimator = sukima_capacity_estimator_open(&options);
  ASSERT_NE(estimator, nullptr);
  for (std::uint64_t i = 1; i <= 10; i++) sukima_capacity_estimator_sample(estimator, i * 100'000'000);
  sukima_capacity_facts facts{};
  sukima_capacity_estimator_facts(estimator, &facts);
  for (const double threads : {0.0, 1.0, 2.0, 3.5, 1000.0}) {
    sukima_capacity_estimate estimate{};
    sukima_capacity_estimator_usable(estimator, threads, &estimate);
    EXPECT_LE(estimate.usable, facts.usable);
    EXPECT_LE(estimate.usable, estimate.threads);
    EXPECT_LE(estimate.low, estimate.usable);
    EXPECT_LE(estimate.usable, estimate.high);
    EXPECT_GT(estimate.usable, 0);
  }
  sukima_capacity_estimator_close(estimator);
}

INSTANTIATE_TEST_SUITE_P(all, zoo, testing::ValuesIn(sukima_test::tree_names(SUKIMA_ZOO)),
                         [](const testing::TestParamInfo<std::string>& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(zoo_size, holds_at_least_25_trees) { EXPECT_GE(sukima_test::tree_names(SUKIMA_ZOO).size(), 25u); }

}  // namespace
