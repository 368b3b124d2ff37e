// SPDX-License-Identifier: Apache-2.0
// Files of results: they are complete or absent, and devices, pipes and links keep their type.
#include <capacity/shared/output_file.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <sukima/capacity.h>

#include "recorded_tree.hpp"

namespace {

namespace fs = std::filesystem;

class output : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return tree_.root() + "/" + name; }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  static int write(const std::string& path, const std::string& text, bool keep = true) {
    cap_output_file file{};
    if (const int error = cap_output_open(&file, path.c_str())) return error;
    std::fputs(text.c_str(), file.stream);
    return cap_output_close(&file, keep);
  }
  [[nodiscard]] std::size_t entries() const {
    const fs::directory_iterator all(tree_.root());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  sukima_test::recorded_tree tree_;
};

TEST_F(output, is_complete_or_absent) {
  EXPECT_EQ(cap_output_check(path("new").c_str()), 0);
  EXPECT_EQ(entries(), 0u) << "a check leaves nothing";
  EXPECT_EQ(write(path("new"), "one\n"), 0);
  EXPECT_EQ(content(path("new")), "one\n");
  EXPECT_EQ(write(path("new"), "two\n", false), 0);
  EXPECT_EQ(content(path("new")), "one\n") << "it was not to be kept";
  cap_output_file file{};
  ASSERT_EQ(cap_output_open(&file, path("new").c_str()), 0);
  std::fputs("three\n", file.stream);
  std::fflush(file.stream);
  EXPECT_EQ(content(path("new")), "one\n") << "it is not complete";
  EXPECT_EQ(cap_output_close(&file, true), 0);
  EXPECT_EQ(content(path("new")), "three\n");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(output, of_a_killed_process_leaves_nothing) {
  const int unnamed = open(tree_.root().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  const bool can_be_unnamed = unnamed >= 0;  // not on each file system
  if (can_be_unnamed) close(unnamed);
  for (const bool exists : {false, true}) {
    if (exists) tree_.file("/new", "one\n");
    const pid_t child = fork();
    if (child == 0) {
      cap_output_file file{};
      if (cap_output_open(&file, path("new").c_str()) != 0) _exit(1);
      std::fputs("two\n", file.stream);
      std::fflush(file.stream);
      raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    if (can_be_unnamed) {
      EXPECT_EQ(entries(), exists ? 1u : 0u);
    }
  }
  EXPECT_EQ(content(path("new")), "one\n");
}

TEST_F(output, says_why_it_could_not_be_written) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{5'000'000}})
    EXPECT_EQ(write("/dev/full", std::string(length, 'x')), ENOSPC) << length;
}

TEST_F(output, needs_a_folder_and_a_name_of_a_file) {
  EXPECT_EQ(write(path("none/new"), ""), ENOENT);
  EXPECT_EQ(cap_output_check(path("none/new").c_str()), ENOENT);
  EXPECT_EQ(cap_output_check(tree_.root().c_str()), EISDIR);
  EXPECT_EQ(cap_output_check(path(std::string(300, 'x')).c_str()), ENAMETOOLONG);
  EXPECT_EQ(write(tree_.root(), ""), EISDIR);
}

TEST_F(output, writes_through_a_link) {
  tree_.file("/target", "old");
  fs::create_symlink("target", path("link"));
  EXPECT_EQ(cap_output_check(path("link").c_str()), 0);
  EXPECT_EQ(content(path("target")), "old");
  EXPECT_EQ(write(path("link"), "new"), 0);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("target")), "new");
}

TEST_F(output, writes_into_a_pipe) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(cap_output_check(path("pipe").c_str()), 0);
  std::string read;
  std::thread reader([&] { read = content(path("pipe")); });
  EXPECT_EQ(write(path("pipe"), "through"), 0);
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

// A device of our own with the numbers of /dev/full. The real one is not touched.
TEST_F(output, leaves_a_device_what_it_is) {
  if (mknod(path("full").c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0)
    GTEST_SKIP() << "no device can be made here: " << std::strerror(errno);
  const int opened = open(path("full").c_str(), O_WRONLY | O_CLOEXEC);
  if (opened < 0)
    GTEST_SKIP() << "devices cannot be opened in " << tree_.root() << ": " << std::strerror(errno);
  close(opened);
  EXPECT_EQ(cap_output_check(path("full").c_str()), 0);
  EXPECT_EQ(write(path("full"), "text"), ENOSPC);
  EXPECT_TRUE(fs::is_character_file(path("full")));
  sukima_capacity_profile profile{};
  profile.valid_seconds = 10;
  EXPECT_EQ(sukima_capacity_profile_write(path("full").c_str(), &profile), ENOSPC);
  EXPECT_TRUE(fs::is_character_file(path("full")));
  struct stat status{};
  ASSERT_EQ(stat(path("full").c_str(), &status), 0);
  EXPECT_EQ(status.st_rdev, makedev(1, 7));
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
