// SPDX-License-Identifier: Apache-2.0
// The subcommand `sukima bench`.
#pragma once

#include <CLI/App.hpp>

namespace sukima::cli::bench {

/// Adds the subcommand. When it is parsed it runs, and sets `code` to the program's exit code.
void add_command(CLI::App& program, int& code);

}  // namespace sukima::cli::bench
