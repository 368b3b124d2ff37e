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
#include "waiting.h"
}

namespace {

preload_settings settings{};
std::uint32_t fitting = 2;

int outside_of_regions() { return 0; }

}  // namespace

extern "C" {

const preload_settings* preload_current_settings() { return &settings; }
std::uint32_t preload_threads() { return fitting; }
std::uint32_t preload_most_useful() { return 0; }
std::uint64_t preload_now() { return 1; }
void preload_note(const char* /*format*/, ...) {}
preload_function* preload_next_function(const char* /*name*/, const void* /*caller*/) {
  return reinterpret_cast<preload_function*>(outside_of_regions);
}
preload_function* preload_find_function(const char* /*name*/, const void* /*caller*/) { return nullptr; }
void preload_waiting_region_begins(std::uint32_t /*threads*/, const void* /*caller*/) {}
void preload_waiting_region_ends() {}
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
