// SPDX-License-Identifier: Apache-2.0
// Finds experiments and programs; see files.hpp.
#include "lab/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include <base/shared/executable.hpp>
#include <base/shared/installed.hpp>
#include <base/shared/temporary_directory.hpp>
#include <cli/shared/console.hpp>
#include "shared/find_program.hpp"
#include "shared/folder.hpp"

namespace sukima::cli::lab {

namespace fs = std::filesystem;
namespace parts = sukima::lab;

namespace {

parts::experiment read_experiment(const fs::path& file) {
  try {
    const std::string text = parts::read_text(file);
    try {
      return parts::parse_experiment(text);
    } catch (const parts::experiment_error& error) {
      throw process::usage_error(fmt::format("'{}': {}", file.string(), error.what()));
    }
  } catch (const parts::experiment_error& error) {  // of read_text: it names the file
    throw process::usage_error(error.what());
  }
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path installed_folder() { return process::shared_data() / "lab"; }

}  // namespace

fs::path data_folder() {
  if (const std::string setting = variable("SUKIMA_LAB_DIR"); !setting.empty()) return setting;
  return installed_folder();
}

fs::path script_folder() {
  std::error_code ignored;
  return fs::exists(data_folder() / "build-image.sh", ignored) ? data_folder() : installed_folder();
}

std::vector<parts::experiment> all_experiments() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_folder(), error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (files.empty())
    throw process::usage_error(
        fmt::format("'{}' has no experiments: install sukima again, or set SUKIMA_LAB_DIR to a "
                    "folder with files of experiments",
                    data_folder().string()));
  std::ranges::sort(files);
  std::vector<parts::experiment> all;
  for (const fs::path& file : files) {
    all.push_back(read_experiment(file));
    if (all.back().name != file.stem())
      throw process::usage_error(
          fmt::format("'{}': name: must be that of its file, '{}'", file.string(), file.stem().string()));
  }
  return all;
}

std::vector<parts::experiment> find_experiments(const std::vector<std::string>& names) {
  std::vector<parts::experiment> found;
  for (const std::string& name : names) {
    parts::experiment one;
    if (name.find('/') != std::string::npos || name.ends_with(".json")) {
      one = read_experiment(name);
    } else {
      const std::vector<parts::experiment> all = all_experiments();
      const auto at = std::ranges::find(all, name, &parts::experiment::name);
      if (at == all.end()) {
        std::vector<std::string> known;
        for (const parts::experiment& each : all) known.push_back(each.name);
        std::error_code ignored;
        const bool is_file = fs::exists(name + ".json", ignored);
        throw process::usage_error(
            fmt::format("there is no experiment '{}': choose {}, or give a file, such as ./{}.json", name,
                        join_words(known), is_file ? name : "mine"));
      }
      one = *at;
    }
    if (std::ranges::find(found, one.name, &parts::experiment::name) != found.end())
      throw process::usage_error(fmt::format("the experiment '{}' is given twice", one.name));
    found.push_back(std::move(one));
  }
  return found;
}

fs::path find_program_file(const parts::program& program) {
  if (!program.benchmark.empty()) {
    for (const std::string ending : {"-gcc", "-clang", ""})
      if (auto file =
              parts::find_executable(parts::program_directories(), "bench-" + program.system + ending))
        return *file;
    throw process::usage_error(
        fmt::format("the program '{}' needs the benchmark programs of '{}', which are not installed: "
                    "build or install them, or set SUKIMA_BENCH_DIR",
                    program.name, program.system));
  }
  const std::string& word = program.command.front();
  if (word.find('/') == std::string::npos)
    if (auto file = parts::find_executable(parts::program_directories(), word)) return *file;
  if (auto file = process::find_program(word, std::getenv("PATH"))) return fs::absolute(*file);
  throw process::usage_error(
      fmt::format("the program '{}' needs '{}', which is not there: install it, or change its command",
                  program.name, word));
}

fs::path find_simulation() {
  if (auto file = parts::find_executable(parts::program_directories(), "simulated-lab")) return *file;
  const fs::path build = process::program_directory().parent_path();
  if (variable("SUKIMA_BENCH_DIR").empty())
    if (auto file = parts::find_executable({build / "tests" / "bin"}, "sukima-simulated-lab")) return *file;
  throw process::usage_error(
      "the simulated laboratory is not there: build it with `cmake --build build/release --target "
      "sukima-simulated-lab`, or install it");
}

std::string fingerprint(const fs::path& file) {
  try {
    return fmt::format("{:016x}", std::hash<std::string>()(parts::read_text(file)));
  } catch (const parts::experiment_error& error) {
    throw process::usage_error(error.what());
  }
}

fs::path cache_folder() {
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "sukima" / "lab";
  if (const std::string home = variable("HOME"); !home.empty())
    return fs::path(home) / ".cache" / "sukima" / "lab";
  return fs::path(process::place_of_temporary_files()) / "sukima" / "lab";
}

}  // namespace sukima::cli::lab
