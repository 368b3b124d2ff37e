// SPDX-License-Identifier: Apache-2.0
// Finds files that are installed beside this program; see installed.hpp.
#include "shared/installed.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "shared/child.hpp"
#include "shared/errors.hpp"

namespace sukima::process {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds python_limit{120};

fs::path folder_beside(const char* place, const char* usual) {
  const fs::path own = program_directory();
  fs::path configured = (own / place).lexically_normal();
  std::error_code ignored;
  return fs::is_directory(configured, ignored) ? configured : own.parent_path() / usual / "sukima";
}

bool draws(const fs::path& python) {
  if (access(python.c_str(), X_OK) != 0) return false;
  try {
    const child_result result = run_child({.arguments = {python.string(), "-c", "import matplotlib"},
                                           .environment = {},
                                           .input = {},
                                           .limit = python_limit});
    return describe_failure(result, python_limit).empty();
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

std::optional<fs::path> find_executable(const std::vector<fs::path>& directories, std::string_view name) {
  for (const fs::path& directory : directories) {
    const fs::path file = directory / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return fs::absolute(file);
  }
  return std::nullopt;
}

fs::path program_directory() {
  const fs::path own = fs::read_symlink("/proc/self/exe").parent_path();
  // The folder of the commands' programs is called sukima, whatever folder it is installed in.
  if (own.filename() != "sukima") return own;
  for (const char* const place :
       {SUKIMA_BIN_PLACE, "../../bin"}) {  // as configured, and as in a build folder
    fs::path above = (own / place).lexically_normal();
    if (access((above / "sukima").c_str(), X_OK) == 0) return above;
  }
  return own;
}

fs::path private_programs() { return folder_beside(SUKIMA_LIBEXECDIR_PLACE, "libexec"); }

fs::path shared_data() { return folder_beside(SUKIMA_DATADIR_PLACE, "share"); }

std::vector<fs::path> program_directories() {
  if (const char* setting = std::getenv("SUKIMA_BENCH_DIR"); setting != nullptr && *setting != '\0') {
    std::vector<fs::path> directories;
    std::istringstream entries(setting);
    for (std::string entry; std::getline(entries, entry, ':');) {
      std::error_code ignored;
      if (!fs::is_directory(entry, ignored)) {
        throw usage_error("SUKIMA_BENCH_DIR names '" + entry +
                          "', which is not a directory: set it to the directories of the benchmark programs, "
                          "separated by ':', or unset it");
      }
      directories.emplace_back(entry);
    }
    return directories;
  }
  return {private_programs(), program_directory()};
}

fs::path find_python_that_draws(std::string_view option) {
  if (const char* setting = std::getenv("SUKIMA_PYTHON"); setting != nullptr && *setting != '\0') {
    if (draws(setting)) return setting;
    throw usage_error(std::string(option) + " needs Python with matplotlib, which SUKIMA_PYTHON='" + setting +
                      "' is not: set it to such a Python, or unset it");
  }
  const char* path = std::getenv("PATH");
  std::istringstream entries(path == nullptr ? "" : path);
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (draws(fs::path(entry) / "python3")) return fs::path(entry) / "python3";
  }
  if (draws("/usr/bin/python3")) return "/usr/bin/python3";
  throw usage_error(std::string(option) +
                    " needs Python 3 with matplotlib and found none: install it (on Debian: apt-get install "
                    "python3-matplotlib), or leave " +
                    std::string(option) + " out");
}

}  // namespace sukima::process
