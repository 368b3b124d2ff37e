// SPDX-License-Identifier: Apache-2.0
// Plots by the installed Python script; see report.hpp.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "bench/programs.hpp"
#include "bench/report.hpp"
#include "console.hpp"
#include "process/child.hpp"

namespace sukima::cli::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds python_limit{120};

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

/// A Python with matplotlib: that of $SUKIMA_PYTHON alone if it is set, else the first in PATH, else the
/// system's.
fs::path find_python() {
  if (const char* setting = std::getenv("SUKIMA_PYTHON"); setting != nullptr && *setting != '\0') {
    if (draws(setting)) return setting;
    throw usage_error(
        fmt::format("--plot needs Python with matplotlib, which SUKIMA_PYTHON='{}' is not: set it to such a "
                    "Python, or unset it",
                    setting));
  }
  const char* path = std::getenv("PATH");
  std::istringstream entries(path == nullptr ? "" : path);
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (draws(fs::path(entry) / "python3")) return fs::path(entry) / "python3";
  }
  if (draws("/usr/bin/python3")) return "/usr/bin/python3";
  throw usage_error(
      "--plot needs Python 3 with matplotlib and found none: install it (on Debian: apt-get install "
      "python3-matplotlib), or leave --plot out");
}

}  // namespace

plotter::plotter(fs::path prefix) : prefix_(std::move(prefix)) {
  if (prefix_.filename().empty()) {
    throw usage_error(fmt::format(
        "--plot is '{}', which ends without a name: give the two files' common beginning", prefix_.string()));
  }
  for (const char* ending : {".png", ".svg"}) {
    fs::path file = prefix_;
    file += ending;
    [[maybe_unused]] const output_file writable(file);
  }
  script_ = own_directory().parent_path() / "share" / "sukima" / "plot-bench.py";
  if (access(script_.c_str(), R_OK) != 0) {
    throw usage_error(
        fmt::format("--plot needs '{}', which is not there: install sukima again, or leave --plot out",
                    script_.string()));
  }
  python_ = find_python();
}

std::vector<fs::path> plotter::draw(std::span<const summary> figures, const machine_facts& machine) const {
  std::string input;
  for (const summary& s : figures) input += json_line(s) + "\n";
  const child_result result = run_child(
      {.arguments = {python_.string(), script_.string(), prefix_.string(), "--footer", one_line(machine)},
       .environment = {{"MPLBACKEND", "Agg"}},
       .input = input,
       .limit = python_limit});
  if (const std::string failure = describe_failure(result, python_limit); !failure.empty()) {
    throw std::runtime_error(
        fmt::format("the plot failed: {} {}: {}", script_.string(), failure, result.errors));
  }
  fs::path png = prefix_;
  fs::path svg = prefix_;
  return {png += ".png", svg += ".svg"};
}

}  // namespace sukima::cli::bench
