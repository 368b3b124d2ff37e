// SPDX-License-Identifier: Apache-2.0
// The commands of `sukima`. The folder of a command's name declares it; the laboratory declares its own
// commands.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace sukima::cli {

/// The facts about a command that `sukima` needs before it parses.
struct command_entry {
  std::string_view name;
  const char* description;  ///< in `sukima --help`
  const char* package;  ///< Debian package of the command's program; null: the command is part of `sukima`
  const char* option;  ///< CMake option that builds that program
  bool starts_a_program;  ///< arguments after `--` are a program and its arguments
};

/// All commands, by name.
std::span<const command_entry> all_commands();

/// The command of that name; null if there is none.
const command_entry* find_command(std::string_view name);

/// The arguments after `--`: a program and its arguments. Nothing: there was no `--` (see take_program).
using program_arguments = std::optional<std::vector<std::string>>;

/// Declares a command's options, and a callback that runs the command and sets `code` to the exit code of
/// `sukima`. `program` is empty for commands that do not start a program.
using declaration = void (*)(CLI::App& command, int& code, program_arguments program);

/// A command that this program contains.
struct declared_command {
  std::string_view name;
  declaration declare;
};

/// Runs `sukima COMMAND …` in this process, and turns every error into one sentence and an exit code. `here`
/// lists the commands that this program contains.
int run_command_line(std::span<const declared_command> here, int argc, char** argv);

/// main() of the program sukima-COMMAND. Its arguments are those after `sukima COMMAND`.
int run_as_program(declared_command command, int argc, char** argv);

/// Replaces this process with the program of a command. \returns the exit code if the program cannot be
/// started
int become_program(const command_entry& command, char** argv);

namespace calibrate {
void declare(CLI::App& command, int& code, program_arguments program);
}

namespace cluster {
void declare(CLI::App& command, int& code, program_arguments program);
}

namespace explain {
void declare(CLI::App& command, int& code, program_arguments program);
}

namespace guest {
void declare(CLI::App& command, int& code, program_arguments program);
}

namespace host {
void declare(CLI::App& command, int& code, program_arguments program);
}

namespace objects {
void declare(CLI::App& command, int& code, program_arguments program);
}

namespace probe {
void declare(CLI::App& command, int& code, program_arguments program);
}

namespace run {
/// Unless a report is wanted, parsing replaces this process with the program.
void declare(CLI::App& command, int& code, program_arguments program);
}  // namespace run

}  // namespace sukima::cli
