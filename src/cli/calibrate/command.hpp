// SPDX-License-Identifier: Apache-2.0
// The subcommand `sukima calibrate`.
#pragma once

#include <CLI/App.hpp>

namespace sukima::cli::calibrate {

/// Adds the subcommand. When it is parsed it runs, and sets `code`.
void add_command(CLI::App& parent, int& code);

}  // namespace sukima::cli::calibrate
