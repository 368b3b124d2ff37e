// SPDX-License-Identifier: Apache-2.0
// The subcommand `sukima cc`: a program of its own, because the compiler's libraries are large to load.
#pragma once

#include <CLI/App.hpp>
#include <optional>

namespace sukima::cli::cc {

/// For `sukima cc …`: becomes the compiler driver, whose options are those of a C compiler and not for our
/// parser.
/// \returns nothing where it is another command; else the exit code, because the driver cannot be started
std::optional<int> become_compiler(int argc, char** argv);

/// Adds the subcommand's line to the help.
void add_command(CLI::App& parent);

}  // namespace sukima::cli::cc
