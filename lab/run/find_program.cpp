// SPDX-License-Identifier: Apache-2.0
// Searches for benchmark programs; see find_program.hpp.
#include "shared/find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <system_error>

#include <base/shared/errors.hpp>
#include <base/shared/installed.hpp>

namespace sukima::lab {

namespace fs = std::filesystem;

std::optional<fs::path> find_executable(const std::vector<fs::path>& directories, std::string_view name) {
  for (const fs::path& directory : directories) {
    const fs::path file = directory / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return fs::absolute(file);
  }
  return std::nullopt;
}

std::vector<fs::path> program_directories() {
  if (const char* setting = std::getenv("SUKIMA_BENCH_DIR"); setting != nullptr && *setting != '\0') {
    std::vector<fs::path> directories;
    std::istringstream entries(setting);
    for (std::string entry; std::getline(entries, entry, ':');) {
      std::error_code ignored;
      if (!fs::is_directory(entry, ignored)) {
        throw process::usage_error(
            "SUKIMA_BENCH_DIR names '" + entry +
            "', which is not a directory: set it to the directories of the benchmark programs, "
            "separated by ':', or unset it");
      }
      directories.emplace_back(entry);
    }
    return directories;
  }
  return {process::private_programs(), process::program_directory()};
}

}  // namespace sukima::lab
