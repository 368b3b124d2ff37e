// SPDX-License-Identifier: Apache-2.0
// What a signal that ends this process takes along: running processes and the directories of CPU groups.
#pragma once

#include <sys/types.h>

#include <string>

namespace sukima::cli {

/// A process group that SIGINT, SIGTERM and SIGHUP kill before they end this process. The signals are caught
/// as long as there is such a group or directory, unless this process was started with them ignored. Only for
/// the main thread of a program with one thread.
class doomed_group {
 public:
  explicit doomed_group(pid_t group);
  ~doomed_group();
  doomed_group(const doomed_group&) = delete;
  doomed_group& operator=(const doomed_group&) = delete;

 private:
  pid_t group_;
};

/// A directory that the same signals remove (with rmdir) after the processes are killed, the newest first.
class doomed_directory {
 public:
  explicit doomed_directory(std::string path);
  ~doomed_directory();
  doomed_directory(const doomed_directory&) = delete;
  doomed_directory& operator=(const doomed_directory&) = delete;

 private:
  std::string path_;
};

/// Removes an empty directory, or the directory of a control group, waiting up to a second for the last
/// process in it to end. Async-signal-safe. 0, or the errno of rmdir(2).
int remove_directory(const char* path) noexcept;

}  // namespace sukima::cli
