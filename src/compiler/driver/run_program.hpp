// SPDX-License-Identifier: Apache-2.0
// Starts the programs that the driver needs, and makes the folder for their intermediate files.
#pragma once

#include <base/shared/temporary_directory.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sukima::language {

/// Returns the text that replaces a line of a program's messages.
using line_change = std::function<std::string(const std::string&)>;

/// Runs a program to its end. If `change` is given, it is applied to each line that the program prints on
/// stderr.
/// \param is_silent  the program's messages are discarded
/// \returns the program's exit code; 128 + N if signal N ended it
/// \throws process::usage_error  there is no such program, or it cannot be started
/// \throws std::system_error     the system has reached a limit
int run_program(const std::vector<std::string>& command, const line_change& change = {},
                bool is_silent = false);

/// Replaces this process. Throws as run_program does, and never returns.
int become_program(const std::vector<std::string>& command);

/// Returns the command, quoted for a shell.
std::string quoted_command(const std::vector<std::string>& command);

/// A temporary folder. The destructor removes it, also after SIGINT, SIGTERM or SIGHUP, and then raises that
/// signal again.
class work_folder {
 public:
  /// \param name  if it is not empty, the path depends only on it, as long as no other process uses that
  /// folder
  explicit work_folder(const std::string& name = "");
  ~work_folder();
  work_folder(const work_folder&) = delete;
  work_folder& operator=(const work_folder&) = delete;
  const std::string& path() const { return folder_->path(); }

 private:
  std::optional<process::temporary_directory> folder_;
};

/// Returns the arguments without the output's name, for a work_folder. A launcher that uses a cache finds a
/// file by its path, which must be the same again, also in another copy of the project.
std::string name_for_a_cache(const std::vector<std::string>& arguments);

}  // namespace sukima::language
