// SPDX-License-Identifier: Apache-2.0
// The declaration of `sukima lab`.
#pragma once

#include <cli/shared/commands.hpp>

namespace sukima::cli::lab {
void declare(CLI::App& command, int& code, program_arguments program);
}
