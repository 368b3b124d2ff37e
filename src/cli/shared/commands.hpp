// SPDX-License-Identifier: Apache-2.0
// The commands of `sukima`. Each is declared in the folder of its name; the laboratory declares its own.
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

/// The facts about a command that `sukima` knows before it parses.
struct command_entry {
  std::string_view name;
  const char* description;  ///< in `sukima --help`
  const char* package;  ///< Debian package of the command's program; null: the command is part of `sukima`
  const char* option;  ///< CMake option that builds that program
  bool starts_a_program;  ///< words after `--` are a program and its arguments
};

/// All commands, by name.
std::span<const command_entry> all_commands();

/// The command of that name; null if there is none.
const command_entry* find_command(std::string_view name);

/// The words after `--`: a program and its arguments. Nothing: there was no `--` (see take_program).
using program_words = std::optional<std::vector<std::string>>;

/// Declares a command's options, and a callback that runs the command and sets `code` to the exit code of
/// `sukima`. `program` is empty for commands that start no program.
using declaration = void (*)(CLI::App& command, int& code, program_words program);

/// A command that this program contains.
struct declared_command {
  std::string_view name;
  declaration declare;
};

/// Runs `sukima COMMAND …` in this process: turns every error into one sentence and an exit code. `here` are
/// the commands that this program contains.
int run_command_line(std::span<const declared_command> here, int argc, char** argv);

/// main() of the program sukima-COMMAND, whose arguments are those after `sukima COMMAND`.
int run_as_program(declared_command command, int argc, char** argv);

/// Replaces this process with the program of a command. \returns the exit code if that cannot be started
int become_program(const command_entry& command, char** argv);

namespace calibrate {
void declare(CLI::App& command, int& code, program_words program);
}

namespace cluster {
void declare(CLI::App& command, int& code, program_words program);
}

namespace explain {
void declare(CLI::App& command, int& code, program_words program);
}

namespace guest {
void declare(CLI::App& command, int& code, program_words program);
}

namespace host {
void declare(CLI::App& command, int& code, program_words program);
}

namespace objects {
void declare(CLI::App& command, int& code, program_words program);
}

namespace probe {
void declare(CLI::App& command, int& code, program_words program);
}

namespace run {
/// Without a report, parsing replaces this process with the program.
void declare(CLI::App& command, int& code, program_words program);
}  // namespace run

}  // namespace sukima::cli
