// SPDX-License-Identifier: Apache-2.0
// Runs a program instead of this process. The program uses the streams of this process, receives its signals,
// and determines its exit code.
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
  int signal = 0;  ///< the signal that ended it; 0: it ended without a signal
};

/// Runs a program with this process's streams. Signals that other processes send to this process are passed
/// on to the program; the terminal's signals reach the program directly. When the program stops, as after
/// Ctrl-Z, this process stops, too. When this process is continued, it continues the program.
/// \param arguments   the program, which is searched in PATH, and its arguments
/// \param environment all variables, NAME=VALUE
/// \throws start_error if it cannot be started
program_end run_program(std::vector<std::string> arguments, std::vector<std::string> environment);

/// Removes `-- PROGRAM ARGS…` from the arguments of `sukima COMMAND … -- PROGRAM ARGS…`, because the parser
/// must not see them.
/// \returns the program and its arguments; nothing for another command, or without `--`
std::optional<std::vector<std::string>> take_program(std::string_view command, int& argc, char** argv);

/// Ends this process with the signal that ended the program. Returns if the signal does not end this process.
void end_by(int signal);

}  // namespace sukima::process
