// SPDX-License-Identifier: Apache-2.0
// The folders of the installation to which the running program belongs.
#pragma once

#include <filesystem>

namespace sukima::process {

/// Returns the directory of the program `sukima`. The running program is in that directory, or is one of the
/// programs that `sukima` starts and that are in private_programs().
std::filesystem::path program_directory();

/// Return the folders of programs that users do not start themselves (libexec), and of data (share). They are
/// at the places that the build was configured with, or beside program_directory(), as in a build folder.
std::filesystem::path private_programs();
std::filesystem::path shared_data();

}  // namespace sukima::process
