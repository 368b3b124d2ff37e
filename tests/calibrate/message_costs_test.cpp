// SPDX-License-Identifier: Apache-2.0
// The costs of messages as measured here: plausible, complete and in time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <calibrate/shared/message_costs.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace sukima::objects::model;

TEST(message_costs, are_measured_for_each_unit_and_size) {
  const auto begin = std::chrono::steady_clock::now();
  const cost_table costs = sukima::measure_message_costs();
  EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  for (const unit carrier : {unit::simulated, unit::thread, unit::process, unit::pipe}) {
    ASSERT_TRUE(costs.knows(carrier)) << name_of(carrier);
    const message_cost small = costs.of(carrier, 8, 1), large = costs.of(carrier, 65536, 1);
    EXPECT_GT(small.sender_ns, 0.1) << name_of(carrier);
    EXPECT_GT(small.receiver_ns, 0.1) << name_of(carrier);
    EXPECT_GT(large.sender_ns, 5 * small.sender_ns) << name_of(carrier);
    EXPECT_LT(large.sender_ns, 1e7) << name_of(carrier);
  }
  ASSERT_TRUE(costs.switch_ns.has_value() && costs.switch_quartiles.has_value());
  const double switch_ns = costs.switch_ns.value_or(0);
  const quartiles around = costs.switch_quartiles.value_or(quartiles{});
  EXPECT_GT(switch_ns, 1);
  EXPECT_LT(switch_ns, 5000);
  EXPECT_LE(around.low, switch_ns);
  EXPECT_GE(around.high, switch_ns);
  EXPECT_GT(costs.of(unit::pipe, 8, 1).sender_ns, 5 * costs.of(unit::process, 8, 1).sender_ns);
  ASSERT_TRUE(costs.same_cpu.has_value());
  const sleep_cost same_cpu = costs.same_cpu.value_or(sleep_cost{});
  EXPECT_GT(same_cpu.waker_ns + same_cpu.until_ns, 300);
  EXPECT_EQ(costs.resume_ns.has_value(), costs.other_cpu.has_value()) << "both take two CPUs";
  if (costs.resume_ns) {
    EXPECT_GT(*costs.resume_ns, 1);
    EXPECT_LT(*costs.resume_ns, 1e6);
    EXPECT_GE(costs.resume_quartiles.value_or(quartiles{}).high, *costs.resume_ns);
    std::printf("resume elsewhere %.1f ns\n", *costs.resume_ns);
  }
  std::printf("switch %.1f ns\n", switch_ns);
  for (const message_cost& line : costs.messages) {
    ASSERT_TRUE(line.spread.has_value());
    const auto spread = line.spread.value_or(message_quartiles{});
    EXPECT_LE(spread.sender.low, line.sender_ns);
    EXPECT_GE(spread.receiver.high, line.receiver_ns);
    std::printf("%s %zu bytes, %u CPUs: %.1f and %.1f ns\n", std::string(name_of(line.carrier)).c_str(),
                line.bytes, line.cpus, line.sender_ns, line.receiver_ns);
  }
}

/// The processes that this thread has made.
std::vector<pid_t> children_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/children");
  return {std::istream_iterator<pid_t>(file), {}};
}

TEST(message_costs, of_a_process_that_is_killed_are_an_error) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two CPUs";
  if (!std::filesystem::exists("/proc/thread-self/children"))
    GTEST_SKIP() << "this kernel does not list children";
  const pid_t measuring = gettid();
  std::jthread killer([measuring](const std::stop_token& over) {
    while (!over.stop_requested())
      for (const pid_t child : children_of(measuring)) kill(child, SIGKILL);
  });
  EXPECT_THROW(sukima::measure_message_costs(), std::runtime_error);
}

}  // namespace
