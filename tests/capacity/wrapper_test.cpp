// SPDX-License-Identifier: Apache-2.0
// The C++ interface says what the C interface says, and throws where that returns errors.
#include <gtest/gtest.h>

#include <stdexcept>

#include <sukima/capacity.hpp>

#include "recorded_tree.hpp"

namespace {

using sukima_test::mount_line;
using sukima_test::recorded_tree;

class wrapper : public testing::Test {
 protected:
  wrapper() {
    tree_.machine("0-3", "0-3").file("/proc/self/cgroup", "0::/\n");
    tree_.file("/proc/self/mountinfo", mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
    tree_.file("/sys/fs/cgroup/cgroup.procs", "").file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    options_.root = tree_.root();
    options_.override_text = "";
  }

  recorded_tree tree_;
  sukima::capacity::options options_;
};

TEST_F(wrapper, reads_facts_and_reasons) {
  const sukima_capacity_facts plain = tree_.facts();
  EXPECT_EQ(sukima::capacity::read(options_).usable, plain.usable);
  const sukima::capacity::report report = sukima::capacity::explain(options_);
  EXPECT_EQ(report.facts().quota, 1.5);
  EXPECT_FALSE(report.limits().empty());
  EXPECT_EQ(report.notes().size(), plain.note_count);
  EXPECT_EQ(sukima::capacity::threads(report.facts().usable), 2u);
  EXPECT_EQ(sukima::capacity::threads(1.5, {SUKIMA_CAPACITY_FLOOR, 1, 0}), 1u);
}

TEST_F(wrapper, an_estimator_is_moved_and_tried) {
  sukima::capacity::estimator first(options_);
  sukima::capacity::estimator second = std::move(first);
  for (std::uint64_t i = 1; i <= 10; i++) second.sample(i * 100'000'000);
  EXPECT_EQ(second.load().samples, 10u);
  EXPECT_EQ(second.facts().cap, 4u);
  EXPECT_EQ(second.usable().threads, 4);
  EXPECT_LE(second.usable(2).usable, 1.5);
  EXPECT_FALSE(second.end_experiment());
  second.begin_experiment(2);
  EXPECT_FALSE(second.end_experiment());
  EXPECT_FALSE(second.explain().limits().empty());
}

TEST_F(wrapper, a_malformed_override_is_an_exception_with_its_sentence) {
  options_.override_text = "many";
  EXPECT_THROW(static_cast<void>(sukima::capacity::read(options_)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(sukima::capacity::explain(options_)), std::invalid_argument);
  try {
    const sukima::capacity::estimator estimator(options_);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'many'"), std::string::npos);
  }
}

}  // namespace
