// SPDX-License-Identifier: Apache-2.0
// Finds benchmark programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace sukima::lab {

/// Returns the folders to search for benchmark programs, in this order: only $SUKIMA_BENCH_DIR (directories
/// separated by ':') if it is set; otherwise process::private_programs(), then process::program_directory().
/// \throws usage_error if an entry of $SUKIMA_BENCH_DIR is not a directory
std::vector<std::filesystem::path> program_directories();

/// Returns the executable file of that name in the first directory that contains it. O(directories).
std::optional<std::filesystem::path> find_executable(const std::vector<std::filesystem::path>& directories,
                                                     std::string_view name);

}  // namespace sukima::lab
