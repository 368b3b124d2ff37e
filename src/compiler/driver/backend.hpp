// SPDX-License-Identifier: Apache-2.0
// The driver's questions to the C compiler, and the names that it gives to that compiler.
#pragma once

#include <string>
#include <vector>

#include "driver/command_line.hpp"
#include "driver/toolchain.hpp"
#include "translate.hpp"

namespace sukima::language {

/// The macros that the C compiler predefines with the options of the command line, without those of types
/// that Clang lacks. None if the compiler does not answer.
/// \param folder  for the answer
std::vector<predefined_macro> macros_of_backend(const command_line& line, const toolchain& tools,
                                                const std::string& folder);

/// Copies the object beside the program, if the C compiler keeps what it makes on the way (-save-temps).
/// \param prefix  of the copy's name, as names_beside() has it
void keep_object(const command_line& line, const std::string& object, const std::string& prefix);

/// Options for what the C compiler writes beside an object, such as coverage notes: its place is beside the
/// program, as for a C file that is compiled and linked in one step. None where nothing is written.
std::vector<std::string> names_beside(const command_line& line, const std::string& program);

/// A file's name as the options about prefixes (-ffile-prefix-map=OLD=NEW) change it.
std::string mapped_name(const command_line& line, const std::string& file);

}  // namespace sukima::language
