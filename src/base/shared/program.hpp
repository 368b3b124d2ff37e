// SPDX-License-Identifier: Apache-2.0
// Running a program instead of this process: it has the streams, the signals and the exit code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "start_program.hpp"

namespace sukima::process {

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
/// \throws start_error if it cannot be started
program_end run_program(std::vector<std::string> arguments, std::vector<std::string> environment);

/// Removes `-- PROGRAM ARGS…` from the arguments of `sukima COMMAND … -- PROGRAM ARGS…`, because the parser
/// must not see it.
/// \returns the program and its arguments; nothing for another command, or without `--`
std::optional<std::vector<std::string>> take_program(std::string_view command, int& argc, char** argv);

/// Ends this process by the signal that ended the program. Returns if the signal does not end this process.
void end_by(int signal);

}  // namespace sukima::process
