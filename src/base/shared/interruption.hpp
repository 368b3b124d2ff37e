// SPDX-License-Identifier: Apache-2.0
// Cleans up when a signal ends this process: also ends its child processes, and removes its control groups.
#pragma once

#include <sys/types.h>

#include <string>

namespace sukima::process {

/// A process group that is killed when SIGINT, SIGTERM or SIGHUP ends this process. The signals are caught as
/// long as there is such a group or directory, unless this process was started with them ignored. Only for
/// the main thread of a program with one thread.
class killed_on_signal {
 public:
  explicit killed_on_signal(pid_t group);
  ~killed_on_signal();
  killed_on_signal(const killed_on_signal&) = delete;
  killed_on_signal& operator=(const killed_on_signal&) = delete;

 private:
  pid_t group_;
};

/// The contents that a directory may have when it is removed.
enum class directory_contents {
  none,  ///< it is empty, or of a control group
  files,  ///< it contains files but no directories
  tree,  ///< it contains files and directories
};

/// A directory that is removed in that case, after the processes are killed; the newest directory first.
class removed_on_signal {
 public:
  explicit removed_on_signal(std::string path, directory_contents with = directory_contents::none);
  ~removed_on_signal();
  removed_on_signal(const removed_on_signal&) = delete;
  removed_on_signal& operator=(const removed_on_signal&) = delete;

 private:
  std::string path_;
};

/// Removes an empty directory or the directory of a control group. It waits up to a second for the last
/// process in the group to end, and kills processes that do not end. Async-signal-safe. Returns 0, or the
/// errno of rmdir(2).
int remove_directory(const char* path) noexcept;

/// Removes a directory and the files in it. Async-signal-safe. Returns 0 or an errno.
int remove_directory_with_files(const char* path) noexcept;

/// Removes a directory with the files and directories in it, up to 32 levels; it follows no links.
/// Async-signal-safe. Returns 0 or an errno.
int remove_directory_tree(const char* path) noexcept;

}  // namespace sukima::process
