// SPDX-License-Identifier: Apache-2.0
// The steps of `sukima cc` for a command line.
#pragma once

#include "driver/command_line.hpp"
#include "driver/toolchain.hpp"

namespace sukima::language {

/// Translates, compiles and links. \returns the exit code: 0; 1 if a source has an error; else that of the C
/// compiler. An error in a .tc file leaves no output file; of other errors the C compiler decides that.
int drive(const command_line& line, const toolchain& tools);

}  // namespace sukima::language
