// SPDX-License-Identifier: Apache-2.0
// What the driver asks the C compiler behind it.
#pragma once

#include <vector>

#include "driver/command_line.hpp"
#include "driver/toolchain.hpp"
#include "translate.hpp"

namespace sukima::language {

/// The macros that the C compiler predefines with the options of the command line, without those of types that
/// Clang lacks. None if the compiler does not answer.
/// \param folder  for the answer
std::vector<predefined_macro> macros_of_backend(const command_line& line, const toolchain& tools,
                                                const std::string& folder);

}  // namespace sukima::language
