// SPDX-License-Identifier: Apache-2.0
// Running a program in this process's place, with a trace.
#pragma once

#include <string>
#include <vector>

namespace sukima::cli::explain {

/// A directory of its own for temporary files, removed at the end with what is in it.
class temporary_directory {
 public:
  /// \throws std::system_error
  temporary_directory();
  ~temporary_directory();
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// How a program ended.
struct program_end {
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0: it ended by itself
};

/// Runs a program with this process's streams, and SUKIMA_TRACE in its environment. Signals that other
/// processes send to this one go on to the program; those of the terminal reach it anyway.
/// \param arguments the program, looked for in PATH, and its arguments
/// \throws usage_error if it cannot be started
program_end run_traced(std::vector<std::string> arguments, const std::string& trace_file);

}  // namespace sukima::cli::explain
