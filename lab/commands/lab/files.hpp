// SPDX-License-Identifier: Apache-2.0
// The experiments and programs that `sukima lab` finds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/experiment.hpp"

namespace sukima::cli::lab {

/// The folder with the experiments: $SUKIMA_LAB_DIR if it is set; otherwise ../share/sukima/lab beside
/// the directory of this program.
std::filesystem::path data_folder();

/// The folder with the scripts for guests: the data folder if it has them, else the installed folder.
std::filesystem::path script_folder();

/// All experiments of the data folder, by name.
/// \throws usage_error with the file and the place, if one is wrong or there are none
std::vector<sukima::lab::experiment> all_experiments();

/// The experiments of these names; a name with '/' or that ends with ".json" is a file.
/// \throws usage_error
std::vector<sukima::lab::experiment> find_experiments(const std::vector<std::string>& names);

/// The file of a program: of a benchmark, the first of bench-SYSTEM-gcc, bench-SYSTEM-clang and bench-SYSTEM
/// beside this program; of a command, its first word, looked for there and in PATH.
/// \throws usage_error if it is not there
std::filesystem::path find_program_file(const sukima::lab::program& what);

/// A hash of a program's file, which another build changes. O(size)
/// \throws usage_error if it cannot be read
std::string fingerprint(const std::filesystem::path& file);

/// Where the guests' kernel is kept: the lab's folder in the user's cache.
std::filesystem::path cache_folder();

}  // namespace sukima::cli::lab
