// SPDX-License-Identifier: Apache-2.0
// Files that the user names.
#pragma once

#include <string>

namespace sukima::cli::host {

/// All of a file; "-" is standard input.
/// \param name  names the file in a message, such as "the description"
/// \param advice  ends the message, such as "give another file"
/// \throws usage_error  it cannot be read, or is longer than any such file
std::string read_input(const std::string& path, const std::string& name, const std::string& advice);

}  // namespace sukima::cli::host
