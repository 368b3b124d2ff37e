// SPDX-License-Identifier: Apache-2.0
// The subcommand `sukima run`.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::run {

/// Adds the subcommand. When it is parsed, this process becomes the program; with --report it sets `code`
/// to the program's exit code instead.
/// \param program what take_program gave
void add_command(CLI::App& parent, int& code, std::optional<std::vector<std::string>> program);

}  // namespace sukima::cli::run
