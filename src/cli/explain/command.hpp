// SPDX-License-Identifier: Apache-2.0
// The subcommand `sukima explain`.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::explain {

/// Adds the subcommand. When it is parsed it runs, and sets `code` to the program's exit code.
/// \param program what take_program gave
void add_command(CLI::App& parent, int& code, std::optional<std::vector<std::string>> program);

}  // namespace sukima::cli::explain
