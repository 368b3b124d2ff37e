// SPDX-License-Identifier: Apache-2.0
// Arguments @FILE, which stand for the words in a file.
#pragma once

#include <string>
#include <vector>

namespace sukima::language {

/// Adds an argument to the others; instead of @FILE, if that file exists, the arguments in it, which are
/// separated by spaces, with quotes and backslashes as in gcc.
/// \throws command_line_error  a file that includes itself
void expand_response_files(const std::string& argument, std::vector<std::string>& into);

}  // namespace sukima::language
