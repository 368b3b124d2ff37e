// SPDX-License-Identifier: Apache-2.0
// The subcommand `sukima explain`.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::explain {

/// Takes what follows `--` off the arguments of `sukima explain … -- PROGRAM ARGS…`, because it is not for
/// the parser, which would not keep it apart from a file. Nothing: it is another command, or has no `--`.
std::optional<std::vector<std::string>> take_program(int& argc, char** argv);

/// Adds the subcommand. When it is parsed it runs, and sets `code` to the program's exit code.
/// \param program what take_program gave
void add_command(CLI::App& parent, int& code, std::optional<std::vector<std::string>> program);

}  // namespace sukima::cli::explain
