// SPDX-License-Identifier: Apache-2.0
// The folders of the installation that the running program is part of.
#pragma once

#include <filesystem>

namespace sukima::process {

/// The directory of the program `sukima`. The running program is there, or is one of those that `sukima`
/// starts, in private_programs().
std::filesystem::path program_directory();

/// Sukima's folder of programs that users do not start themselves (libexec), and of data (share): where the
/// build was configured to install them, else beside program_directory(), as in a build folder.
std::filesystem::path private_programs();
std::filesystem::path shared_data();

}  // namespace sukima::process
