// SPDX-License-Identifier: Apache-2.0
// Running a program in this process's place: with its streams, its signals, and its end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cli {

/// How a program ended.
struct program_end {
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0: it ended by itself
};

/// Runs a program with this process's streams. Signals that other processes send to this one go on to the
/// program; those of the terminal reach it anyway. When the program stops, as by Ctrl-Z, this process
/// stops, too, and when it is continued, it continues the program.
/// \param arguments   the program, looked for in PATH, and its arguments
/// \param environment all variables, NAME=VALUE
/// \throws usage_error if it cannot be started
program_end run_program(std::vector<std::string> arguments, std::vector<std::string> environment);

/// Takes what follows `--` off the arguments of `sukima COMMAND … -- PROGRAM ARGS…`, because it is not for
/// the parser. Nothing: it is another command, or has no `--`.
std::optional<std::vector<std::string>> take_program(std::string_view command, int& argc, char** argv);

/// This process's environment with some variables, NAME=VALUE, added or replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& variables);

/// Ends this process as the program was ended. Returns if the signal does not end this process.
void end_by(int signal);

}  // namespace sukima::cli
