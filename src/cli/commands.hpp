// SPDX-License-Identifier: Apache-2.0
// The subcommands of `sukima`. Each lives in the folder of its name.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sukima::cli {

/// The words after `--`: a program and its arguments. Nothing: there was no `--` (see take_program).
using program_words = std::optional<std::vector<std::string>>;

// Each add_command adds its subcommand to the parser. Parsing it runs it, and sets `code` to the exit code of
// `sukima`.

namespace bench {
void add_command(CLI::App& parent, int& code);
}

namespace calibrate {
void add_command(CLI::App& parent, int& code);
}

/// `sukima cc` is a program of its own, because the compiler's libraries are large to load.
namespace cc {

/// For `sukima cc …`: replaces this process with the compiler driver, whose options are those of a C
/// compiler and not for this parser.
/// \returns nothing for another command; otherwise the exit code, because the driver cannot be started
std::optional<int> become_compiler(int argc, char** argv);

/// Adds the subcommand's line to the help.
void add_command(CLI::App& parent);

}  // namespace cc

namespace cluster {
void add_command(CLI::App& parent, int& code, program_words program);
}

namespace explain {
void add_command(CLI::App& parent, int& code, program_words program);
}

namespace guest {
void add_command(CLI::App& parent, int& code);
}

namespace host {
void add_command(CLI::App& parent, int& code);
}

namespace lab {
void add_command(CLI::App& parent, int& code);
}

namespace objects {
void add_command(CLI::App& parent, int& code, program_words program);
}

namespace probe {
void add_command(CLI::App& parent, int& code);
}

namespace run {
/// Without a report, parsing replaces this process with the program.
void add_command(CLI::App& parent, int& code, program_words program);
}  // namespace run

}  // namespace sukima::cli
