// SPDX-License-Identifier: Apache-2.0
// The steps of `sukima cc` for a command line.
#pragma once

#include "driver/command_line.hpp"
#include "driver/toolchain.hpp"

namespace sukima::language {

/// Translates, compiles and links. \returns the exit code: 0; 1 if a source has an error; otherwise the C
/// compiler's. After an error in a .tc file there is no output file; for other errors the C compiler
/// determines that.
int drive(const command_line& line, const toolchain& tools);

}  // namespace sukima::language
