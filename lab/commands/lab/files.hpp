// SPDX-License-Identifier: Apache-2.0
// Finds the experiments and programs of `sukima lab`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/experiment.hpp"

namespace sukima::cli::lab {

/// Returns the folder with the experiments: $SUKIMA_LAB_DIR if it is set; otherwise ../share/sukima/lab
/// relative to the directory of this program.
std::filesystem::path data_folder();

/// Returns the folder with the scripts for guests: the data folder if it has them, otherwise the installed
/// folder.
std::filesystem::path script_folder();

/// Returns all experiments of the data folder, by name.
/// \throws usage_error with the file and the place of a mistake, or if there are no experiments
std::vector<sukima::lab::experiment> all_experiments();

/// Returns the experiments with these names. A name that contains '/' or ends with ".json" is a file.
/// \throws usage_error
std::vector<sukima::lab::experiment> find_experiments(const std::vector<std::string>& names);

/// Returns the file of a program. For a benchmark it is the first of bench-SYSTEM-gcc, bench-SYSTEM-clang and
/// bench-SYSTEM in this program's folder. For a command, it is the file of the first word, in that folder or
/// in PATH.
/// \throws usage_error if there is no such file
std::filesystem::path find_program_file(const sukima::lab::program& program);

/// Returns the program of `sukima lab simulate`: simulated-lab, which is installed with the benchmark
/// programs, or sukima-simulated-lab of the build folder.
/// \throws usage_error if it does not exist
std::filesystem::path find_simulation();

/// Returns a hash of a program's file, which differs between builds. O(size)
/// \throws usage_error if the file cannot be read
std::string fingerprint(const std::filesystem::path& file);

/// Returns the folder of the guests' kernel, in the user's cache.
std::filesystem::path cache_folder();

}  // namespace sukima::cli::lab
