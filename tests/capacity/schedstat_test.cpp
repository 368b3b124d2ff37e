// SPDX-License-Identifier: Apache-2.0
// Reading schedstat: what a thread ran and waited.
#include <gtest/gtest.h>

#include <capacity/shared/schedstat.h>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

namespace {

bool parse(const char* content, cap_schedstat& result) {
  return cap_schedstat_parse(content, std::strlen(content), &result);
}

TEST(schedstat, holds_three_numbers) {
  cap_schedstat result{};
  ASSERT_TRUE(parse("123456789 42 7\n", result));
  EXPECT_EQ(result.run_ns, 123456789U);
  EXPECT_EQ(result.wait_ns, 42U);
  EXPECT_EQ(result.slices, 7U);
}

TEST(schedstat, malformed_content_changes_nothing) {
  for (const char* content : {"", "1", "1 2", "1 2 x", "1 2 3 4", "-1 2 3", "99999999999999999999 2 3"}) {
    cap_schedstat result{1, 2, 3};
    EXPECT_FALSE(parse(content, result)) << content;
    EXPECT_EQ(result.run_ns, 1U);
    EXPECT_EQ(result.slices, 3U);
  }
}

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

TEST(schedstat, counts_what_a_thread_runs) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "this kernel does not count it";
  cap_schedstat before{};
  ASSERT_TRUE(cap_schedstat_read(this_thread(), &before));
  cap_schedstat now = before;
  while (now.run_ns < before.run_ns + 5'000'000) ASSERT_TRUE(cap_schedstat_read(this_thread(), &now));
  EXPECT_GE(now.slices, before.slices);
}

TEST(schedstat, an_open_file_is_read_again_from_its_beginning) {
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) GTEST_SKIP() << "this kernel does not count it";
  cap_schedstat first{};
  cap_schedstat second{};
  EXPECT_TRUE(cap_schedstat_read_open(file, &first));
  EXPECT_TRUE(cap_schedstat_read_open(file, &second));
  EXPECT_GE(second.run_ns, first.run_ns);
  close(file);
}

TEST(schedstat, a_thread_that_has_ended_is_unknown_and_errno_stays) {
  pid_t ended = 0;
  std::thread([&] { ended = this_thread(); }).join();
  cap_schedstat result{1, 2, 3};
  errno = 0;
  // The kernel may still list the thread for a moment after join() has returned.
  while (cap_schedstat_read(ended, &result)) usleep(1000);
  EXPECT_FALSE(cap_schedstat_read(ended, &result));
  EXPECT_EQ(errno, 0);
}

}  // namespace
