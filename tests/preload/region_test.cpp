// SPDX-License-Identifier: Apache-2.0
// The number of threads of regions, with a runtime and limits that are played.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <latch>
#include <thread>

extern "C" {
#include "decision.h"
#include "next_function.h"
#include "region.h"
#include "side_by_side.h"
#include "waiting.h"

#include <capacity/shared/side_by_side.h>

cap_side_by_side_meet sukima_preload_meet;
}

namespace {

preload_settings settings{};
std::uint32_t fitting = 2;
bool in_region = false;

int in_parallel() { return in_region ? 1 : 0; }

}  // namespace

extern "C" {

const preload_settings* preload_current_settings() { return &settings; }
std::uint32_t preload_threads() { return fitting; }
std::uint32_t preload_most_useful() { return 0; }
std::uint64_t preload_now() { return 1; }
void preload_note(const char* /*format*/, ...) {}
preload_function* preload_next_function(const char* /*name*/, const void* /*caller*/) {
  return reinterpret_cast<preload_function*>(in_parallel);
}
preload_function* preload_find_function(const char* /*name*/, const void* /*caller*/) { return nullptr; }
std::uint32_t preload_waiting_region_begins(std::uint32_t /*threads*/, const void* /*caller*/) { return 0; }
void preload_waiting_region_ends(std::uint32_t /*begun*/) {}
bool preload_waiting_is_short() { return false; }

}  // extern "C"

namespace {

class region : public testing::Test {
 protected:
  region() {
    settings.threads = fitting;
    settings.minimum = 1;
    settings.resize = preload_resize_always;
    settings.cpus = 4;
  }

  /// The number of a region in the child of a fork, where a limit has changed.
  static unsigned threads_in_child() {
    const pid_t child = fork();
    if (child == 0) {
      fitting = 3;
      preload_region own{};
      _exit(static_cast<int>(preload_region_begins(&own, 1, 0, nullptr)));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 0;
    return static_cast<unsigned>(WEXITSTATUS(status));
  }
};

// The runtime beside it, which counts the threads of regions.
std::uint32_t beside = 0;
bool used = false;
const cap_side_by_side runtime{
    .region_begins =
        [](std::uint32_t threads) {
          beside += threads;
          return std::uint64_t{threads};
        },
    .region_ends = [](std::uint64_t begun) { beside -= static_cast<std::uint32_t>(begun); },
    .was_used = [] { return used; }};

TEST_F(region, without_a_runtime_none_is_told) {
  EXPECT_EQ(preload_beside_region_begins(2), 0U);
  preload_beside_region_ends(0);
  EXPECT_FALSE(preload_beside_was_used());
}

TEST_F(region, a_runtime_beside_it_learns_of_its_begin_and_its_end) {
  sukima_preload_meet(&runtime);
  preload_region outer{};
  EXPECT_EQ(preload_region_begins(&outer, 1, 0, nullptr), 2U);
  EXPECT_EQ(beside, 2U);
  in_region = true;
  preload_region inner{};
  preload_region_begins(&inner, 2, 4, nullptr);
  EXPECT_EQ(beside, 2U) << "an inner region does not count";
  preload_region_ends(&inner);
  in_region = false;
  preload_region_ends(&outer);
  EXPECT_EQ(beside, 0U);
  preload_region given{};
  EXPECT_EQ(preload_region_begins(&given, 1, 3, nullptr), 3U);
  EXPECT_EQ(beside, 3U);
  preload_region_ends(&given);
  EXPECT_EQ(beside, 0U);
  used = true;
  EXPECT_TRUE(preload_beside_was_used());
}

TEST_F(region, limits_are_followed_in_the_child_of_a_fork) { EXPECT_EQ(threads_in_child(), 3U); }

TEST_F(region, limits_are_followed_in_the_child_where_another_thread_was_in_a_region) {
  std::latch inside(1);
  std::latch forked(1);
  unsigned given = 0;
  std::thread other([&] {
    preload_region own{};
    given = preload_region_begins(&own, 1, 0, nullptr);
    inside.count_down();
    forked.wait();
    preload_region_ends(&own);
  });
  inside.wait();
  const unsigned found = threads_in_child();
  forked.count_down();
  other.join();
  EXPECT_EQ(given, 2U);
  EXPECT_EQ(found, 3U);
}

}  // namespace
