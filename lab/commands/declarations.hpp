// SPDX-License-Identifier: Apache-2.0
// The commands of the laboratory. Each is declared in the folder of its name.
#pragma once

#include <cli/shared/commands.hpp>

namespace sukima::cli::bench {
void declare(CLI::App& command, int& code, program_words program);
}

namespace sukima::cli::lab {
void declare(CLI::App& command, int& code, program_words program);
}
