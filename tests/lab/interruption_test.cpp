// SPDX-License-Identifier: Apache-2.0
// What a signal removes with this process: folders with the sockets and consoles of guests.
#include <base/shared/interruption.hpp>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <base/shared/temporary_directory.hpp>

namespace sukima::cli {
namespace {

namespace fs = std::filesystem;

void fill(const fs::path& folder, int files) {
  fs::create_directory(folder);
  for (int i = 0; i < files; ++i)
    std::ofstream(folder / ("a-file-with-a-long-name-" + std::to_string(i))) << i;
}

TEST(interruption, removes_a_directory_with_more_files_than_are_read_at_once) {
  const process::temporary_directory above("lab-test");
  const fs::path folder = fs::path(above.path()) / "full";
  fill(folder, 500);
  EXPECT_EQ(process::remove_directory_with_files(folder.c_str()), 0);
  EXPECT_FALSE(fs::exists(folder));
}

TEST(interruption, leaves_directories_below_alone) {
  const process::temporary_directory above("lab-test");
  const fs::path folder = fs::path(above.path()) / "full";
  fill(folder, 2);
  fs::create_directory(folder / "below");
  EXPECT_NE(process::remove_directory_with_files(folder.c_str()), 0);
  EXPECT_TRUE(fs::exists(folder / "below"));
  EXPECT_NE(process::remove_directory_with_files((folder / "none").c_str()), 0);
}

TEST(interruption, by_a_signal_removes_files_only_where_that_was_asked_for) {
  const process::temporary_directory above("lab-test");
  const fs::path guests = fs::path(above.path()) / "guests", other = fs::path(above.path()) / "other";
  const fs::path tree = fs::path(above.path()) / "tree";
  fill(guests, 3);
  fill(other, 3);
  fill(tree, 500);
  fill(tree / "below", 3);
  fill(tree / "below" / "deeper", 0);
  fs::create_directory_symlink(other, tree / "below" / "link");
  const pid_t child = fork();
  if (child == 0) {
    const process::removed_on_signal whole(tree.string(), process::directory_contents::tree);
    const process::removed_on_signal with_files(guests.string(), process::directory_contents::files);
    const process::removed_on_signal empty_only(other.string());
    raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_FALSE(fs::exists(guests));
  EXPECT_FALSE(fs::exists(tree));
  EXPECT_TRUE(fs::exists(other / "a-file-with-a-long-name-0"));
}

}  // namespace
}  // namespace sukima::cli
