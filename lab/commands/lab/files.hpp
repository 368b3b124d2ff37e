// SPDX-License-Identifier: Apache-2.0
// Finds the experiments and programs of `sukima lab`.
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
/// \throws usage_error with the file and the place of a mistake, or if there are no experiments
std::vector<sukima::lab::experiment> all_experiments();

/// The experiments with these names. A name that contains '/' or ends with ".json" is a file.
/// \throws usage_error
std::vector<sukima::lab::experiment> find_experiments(const std::vector<std::string>& names);

/// The file of a program. For a benchmark it is the first of bench-SYSTEM-gcc, bench-SYSTEM-clang and
/// bench-SYSTEM beside this program. For a command, it is the file of the first word, there or in PATH.
/// \throws usage_error if there is no such file
std::filesystem::path find_program_file(const sukima::lab::program& program);

/// The program of `sukima lab simulate`: simulated-lab, which is installed with the benchmark programs, or
/// sukima-simulated-lab of the build folder.
/// \throws usage_error if it is not there
std::filesystem::path find_simulation();

/// A hash of a program's file, which differs between builds. O(size)
/// \throws usage_error if the file cannot be read
std::string fingerprint(const std::filesystem::path& file);

/// The folder of the guests' kernel, in the user's cache.
std::filesystem::path cache_folder();

}  // namespace sukima::cli::lab
