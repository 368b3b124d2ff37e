// SPDX-License-Identifier: Apache-2.0
// What is installed beside this program: benchmark programs, and a Python that draws.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::process {

/// Where benchmark programs are looked for, first match first: $SUKIMA_BENCH_DIR (directories separated by
/// ':') and nothing else where it is set; otherwise private_programs(), then the directory of this program.
/// Throws usage_error if $SUKIMA_BENCH_DIR names no directory.
std::vector<std::filesystem::path> program_directories();

/// The directory of the running program.
std::filesystem::path own_directory();

/// Sukima's folder of programs that users do not start themselves (libexec), and of data (share): where this
/// program was configured to be installed, else beside its own folder, as in a build.
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
