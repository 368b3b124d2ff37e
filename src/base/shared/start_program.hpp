// SPDX-License-Identifier: Apache-2.0
// Starts a program as a child process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace sukima::process {

/// A program, and the actions of its process before it becomes that program.
struct program_start {
  std::vector<std::string> arguments;  ///< the program's file, and its arguments
  std::vector<std::string> environment{};  ///< all variables, NAME=VALUE
  bool searches_path = false;  ///< searches PATH for a name without a slash, as a shell does
  /// Runs in the child between fork and exec, so it may make only async-signal-safe calls.
  /// \returns false: errno is the reason why the program cannot be started
  std::function<bool()> prepare{};
  /// Runs in this process as soon as the child exists. It must not throw.
  std::function<void(pid_t)> on_fork{};
  int ending_signal = 0;  ///< the signal that the child receives when this thread ends; 0: none
};

/// Returns after the child has become the program. Signals do not interrupt it. If this process ignores
/// SIGCHLD, it does so no longer, because the caller waits for the child.
/// \throws std::system_error with the errno of the failed call, and the program's name; then there is no
/// child
pid_t start_program(const program_start& how);

/// Returns the addresses of the texts and a null pointer at the end, as exec and posix_spawn require. They
/// are valid as long as the texts exist unchanged.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

/// Returns this process's environment with some variables, NAME=VALUE, added or replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& variables);

}  // namespace sukima::process
