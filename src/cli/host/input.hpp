// SPDX-License-Identifier: Apache-2.0
// Reads files that the user names.
#pragma once

#include <string>

namespace sukima::cli::host {

/// Returns all of a file; "-": of standard input.
/// \param name  the file's role in a message, such as "the description"
/// \param advice  the end of the message, such as "give another file"
/// \throws usage_error  it cannot be read, or is too long
std::string read_input(const std::string& path, const std::string& name, const std::string& advice);

}  // namespace sukima::cli::host
