// SPDX-License-Identifier: Apache-2.0
// Queries of the driver to the C compiler, and the file names that it gives that compiler.
#pragma once

#include <string>
#include <vector>

#include "driver/command_line.hpp"
#include "driver/toolchain.hpp"
#include "translate.hpp"

namespace sukima::language {

/// Returns the macros that the C compiler predefines with the options of the command line, without those of
/// types that Clang lacks. None if the compiler fails.
/// \param folder  receives the compiler's output
std::vector<predefined_macro> macros_of_backend(const command_line& line, const toolchain& tools,
                                                const std::string& folder);

/// Copies the object to the program's folder if the C compiler keeps intermediate files (-save-temps).
/// \param prefix  the beginning of the copy's name, as names_beside() returns it
void keep_object(const command_line& line, const std::string& object, const std::string& prefix);

/// Returns options that place the other files of the C compiler, such as coverage notes, beside the program,
/// as if a C file were compiled and linked in one step. Returns none if it writes no such files.
std::vector<std::string> names_beside(const command_line& line, const std::string& program);

/// Returns a file's name as changed by the options about prefixes (-ffile-prefix-map=OLD=NEW).
std::string mapped_name(const command_line& line, const std::string& file);

}  // namespace sukima::language
