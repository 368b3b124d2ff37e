// SPDX-License-Identifier: Apache-2.0
// Other programs that the driver starts, and the folder for what they hand on.
#pragma once

#include <string>
#include <vector>

namespace sukima::language {

/// Runs a program to its end. \returns its exit code; 128 + N after a signal N; 127 where it cannot be
/// started,
/// which is told on stderr
int run_program(const std::vector<std::string>& command);

/// Replaces this process. Returns only where the program cannot be started, which is told on stderr: with
/// 127.
int become_program(const std::vector<std::string>& command);

/// The command as a shell would read it.
std::string quoted_command(const std::vector<std::string>& command);

/// A folder of our own, removed at the end, also after an interruption (INT, TERM, HUP), which is passed on
/// then.
class work_folder {
 public:
  work_folder();
  ~work_folder();
  work_folder(const work_folder&) = delete;
  work_folder& operator=(const work_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sukima::language
