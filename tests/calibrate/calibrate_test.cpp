// SPDX-License-Identifier: Apache-2.0
// Measuring the machine profile on the machine that is here: numbers that make sense, and that can be stored.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sukima/calibrate.hpp>

#include "calibrate/bound_threads.hpp"

namespace {

using sukima::calibrate;
using sukima::calibration;
using sukima::calibration_plan;

TEST(calibrate, measures_every_cpu_and_pair_and_the_result_can_be_stored) {
  std::size_t announced = 0;
  std::size_t total = 0;
  calibration_plan plan;
  plan.window_seconds = 0.001;
  plan.progress = [&](const std::string& step, std::size_t done, std::size_t of) {
    EXPECT_FALSE(step.empty());
    EXPECT_EQ(done, announced);
    announced++;
    total = of;
  };
  const calibration result = calibrate(plan);
  EXPECT_EQ(announced, total);
  const std::size_t cpus = result.cpus.size();
  EXPECT_EQ(cpus, std::thread::hardware_concurrency());
  if (cpus <= 32) {
    EXPECT_EQ(result.pairs.size(), cpus * (cpus - 1) / 2);
  }
  for (const sukima_capacity_pair& pair : result.pairs) {
    EXPECT_LT(pair.first, pair.second);
    EXPECT_GE(pair.slowdown, 0);
    EXPECT_LE(pair.slowdown, 1);
    // Light needs a nanosecond to cross a socket; nothing is a second away.
    EXPECT_GT(pair.handover_ns, 1);
    EXPECT_LT(pair.handover_ns, 1e9);
  }
  EXPECT_GT(result.switch_ns, 50);
  ASSERT_FALSE(result.latencies.empty());
  EXPECT_GT(result.latencies[0].ns, 1);

  const std::string path =
      testing::TempDir() + "sukima-calibrate-test-" + std::to_string(getpid()) + "/profile";
  const sukima_capacity_profile profile = result.profile();
  ASSERT_EQ(sukima_capacity_profile_write(path.c_str(), &profile), 0);
  sukima_capacity_profile* const read = sukima_capacity_profile_read(path.c_str(), nullptr, 0);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(sukima_capacity_profile_check(read), SUKIMA_CAPACITY_PROFILE_VALID);
  EXPECT_EQ(read->pair_count, result.pairs.size());
  sukima_capacity_profile_free(read);
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
}

TEST(calibrate, a_cpu_that_is_not_allowed_is_refused) {
  calibration_plan plan;
  plan.cpus = {65000};
  EXPECT_THROW(static_cast<void>(calibrate(plan)), std::invalid_argument);
}

// There is room for the stack of one thread.
TEST(calibrate, a_thread_that_cannot_be_made_ends_those_that_wait_for_it) {
  constexpr std::size_t stack = std::size_t{1} << 29;
  pthread_attr_t usual;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_t large = usual;
  ASSERT_EQ(pthread_attr_setstacksize(&large, stack), 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  ASSERT_GT(pages, 0U);
  rlimit narrow = before;
  narrow.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + stack + stack / 2;
  const unsigned cpu = sukima::calibrate_detail::allowed_cpus().front();
  std::atomic<int> runs{0};
  const auto count = [&runs] { ++runs; };
  ASSERT_EQ(pthread_setattr_default_np(&large), 0);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &narrow), 0);
  EXPECT_THROW(sukima::calibrate_detail::run_bound({{cpu, count}, {cpu, count}}), std::system_error);
  EXPECT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(pthread_setattr_default_np(&usual), 0);
  EXPECT_EQ(runs, 0);
}

TEST(calibrate, one_cpu_alone_has_no_pairs) {
  calibration_plan plan;
  plan.window_seconds = 0.001;
  const calibration all = calibrate(plan);
  plan.cpus = {all.cpus.back(), all.cpus.back()};
  const calibration result = calibrate(plan);
  EXPECT_EQ(result.cpus, std::vector<std::uint32_t>{all.cpus.back()});
  EXPECT_TRUE(result.pairs.empty());
  EXPECT_EQ(result.wake_ns, 0);
}

}  // namespace
