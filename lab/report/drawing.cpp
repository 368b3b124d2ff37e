// SPDX-License-Identifier: Apache-2.0
// Calls the scripts that draw; see drawing.hpp.
#include "shared/drawing.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <base/shared/child.hpp>
#include <base/shared/errors.hpp>
#include <base/shared/installed.hpp>

namespace sukima::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds python_limit{120};

bool draws(const fs::path& python) {
  if (access(python.c_str(), X_OK) != 0) return false;
  try {
    const process::child_result result =
        process::run_child({.arguments = {python.string(), "-c", "import matplotlib"},
                            .environment = {},
                            .input = {},
                            .limit = python_limit});
    return process::describe_failure(result, python_limit).empty();
  } catch (const std::system_error&) {
    return false;
  }
}

/// A Python with matplotlib: that of $SUKIMA_PYTHON alone if it is set, else the first in PATH, else the
/// system's. Takes about a second for each that is tried.
/// \param option the option that needs it, for messages
/// \throws usage_error if there is none
fs::path find_python_that_draws(std::string_view option) {
  if (const char* setting = std::getenv("SUKIMA_PYTHON"); setting != nullptr && *setting != '\0') {
    if (draws(setting)) return setting;
    throw process::usage_error(std::string(option) + " needs Python with matplotlib, which SUKIMA_PYTHON='" +
                               setting + "' is not: set it to such a Python, or unset it");
  }
  const char* path = std::getenv("PATH");
  std::istringstream entries(path == nullptr ? "" : path);
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (draws(fs::path(entry) / "python3")) return fs::path(entry) / "python3";
  }
  if (draws("/usr/bin/python3")) return "/usr/bin/python3";
  throw process::usage_error(
      std::string(option) +
      " needs Python 3 with matplotlib and found none: install it (on Debian: apt-get install "
      "python3-matplotlib), or leave " +
      std::string(option) + " out");
}

}  // namespace

drawing_script::drawing_script(const std::string& name) : script_(process::shared_data() / name) {
  if (access(script_.c_str(), R_OK) != 0)
    throw process::usage_error(
        fmt::format("--plot needs '{}', which is not there: install sukima again, or leave --plot out",
                    script_.string()));
  python_ = find_python_that_draws("--plot");
}

std::string drawing_script::run(const std::vector<std::string>& arguments, std::string input,
                                std::chrono::seconds limit) const {
  process::child_request request;
  request.arguments = {python_.string(), script_.string()};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.environment = {{"MPLBACKEND", "Agg"}};
  request.input = std::move(input);
  request.limit = limit;
  const process::child_result result = process::run_child(request);
  if (const std::string failure = process::describe_failure(result, limit); !failure.empty())
    throw std::runtime_error(
        fmt::format("the plot failed: {} {}: {}", script_.string(), failure, result.errors));
  return result.output;
}

}  // namespace sukima::lab
