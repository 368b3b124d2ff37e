// SPDX-License-Identifier: Apache-2.0
// Files that are installed beside this program: benchmark programs, and a Python that draws.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::process {

/// The folders in which benchmark programs are searched, in this order: only $SUKIMA_BENCH_DIR (directories
/// separated by ':') if it is set; otherwise private_programs(), then program_directory(). Throws usage_error
/// if an entry of $SUKIMA_BENCH_DIR is not a directory.
std::vector<std::filesystem::path> program_directories();

/// The directory of the program `sukima`. The running program is there, or is one of those that `sukima`
/// starts, in private_programs().
std::filesystem::path program_directory();

/// Sukima's folder of programs that users do not start themselves (libexec), and of data (share): where the
/// build was configured to install them, else beside program_directory(), as in a build folder.
std::filesystem::path private_programs();
std::filesystem::path shared_data();

/// The file of that name in the first of the directories that has it, if it may be executed. O(directories).
std::optional<std::filesystem::path> find_executable(const std::vector<std::filesystem::path>& directories,
                                                     std::string_view name);

/// A Python with matplotlib: that of $SUKIMA_PYTHON alone if it is set, else the first in PATH, else the
/// system's. Takes about a second for each that is tried.
/// \param option the option that needs it, for messages
/// \throws usage_error if there is none
std::filesystem::path find_python_that_draws(std::string_view option);

}  // namespace sukima::process
