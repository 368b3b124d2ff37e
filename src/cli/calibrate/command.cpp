// SPDX-License-Identifier: Apache-2.0
// `sukima calibrate`: its options, and how a request is carried out.

#include <capacity/shared/output_file.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <base/shared/read_text.hpp>
#include "capacity/profile.hpp"
#include "capacity/topology.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"
#include "shared/ranges.hpp"

namespace sukima::cli::calibrate {
namespace {

constexpr const char* footer = R"(Examples:
  sukima calibrate                          measure this machine, and store the profile
  sukima calibrate --show                   print the stored profile, and whether it is still valid
  sukima calibrate --output - --json        measure, and store nothing

The file is SUKIMA_PROFILE, or sukima/profile in XDG_CACHE_HOME or ~/.cache, or without a home
/var/cache/sukima/profile.)";

constexpr double day = 86400, default_days = 30;

struct calibrate_options {
  std::string cpus;
  std::string file;
  std::optional<double> days;
  bool all_pairs = false, show = false, json = false;
};

CLI::Validator cpu_list() {
  return {[](std::string& input) {
            if (read_cpu_list(input)) return std::string();
            return fmt::format(
                "'{}' is not a list of CPUs: give numbers from 0 to {} and ranges, such as 0-3,8", input,
                SUKIMA_CAPACITY_MAX_CPUS - 1);
          },
          ""};
}

void print(const sukima_capacity_profile& profile, bool json) {
  fmt::print("{}", json ? profile_json(profile).dump(2) + "\n" : profile_text(profile));
  if (std::fflush(stdout) != 0)
    throw std::runtime_error("the profile cannot be printed: standard output cannot be written");
}

int show(const calibrate_options& options) {
  const std::string path = options.file.empty() ? profile_path() : options.file;
  std::string error(512, '\0');
  const profile_file profile(sukima_capacity_profile_read(path.c_str(), error.data(), error.size()));
  if (!profile) throw process::usage_error(error.c_str());  // its message says what to do
  const sukima_capacity_profile_state state = sukima_capacity_profile_check(profile.get());
  if (!options.json) fmt::print("The profile {} {}.\n", path, state_text(state));
  print(*profile, options.json);
  return state == SUKIMA_CAPACITY_PROFILE_VALID ? process::exit_success : process::exit_failure;
}

/// Refuses to replace a file that is not a profile, which SUKIMA_PROFILE or --output may name by mistake. A
/// profile that is damaged after its first word is replaced.
void require_profile_or_nothing(const std::string& path) {
  constexpr std::string_view first_word = "sukima-profile ";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  const std::optional<std::string> begin = read_file_text(path, first_word.size());
  if (begin && (begin->empty() || begin->starts_with(first_word))) return;
  throw process::usage_error(
      fmt::format("'{}' is not a machine profile, so it was not replaced; choose another file with "
                  "--output, or remove it",
                  path));
}

[[noreturn]] void refuse_file(const std::string& path, int error) {
  throw process::usage_error(
      fmt::format("the profile cannot be written to '{}': {}; choose another file with --output", path,
                  std::strerror(error)));
}

int measure_and_store(const calibrate_options& options) {
  const std::string path = options.file.empty() ? profile_path() : options.file;
  if (options.file != "-") {
    require_profile_or_nothing(path);
    // Before the measurement, which takes a while. Folders that are missing are made after it.
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    std::error_code ignored;
    if (std::filesystem::is_directory(folder, ignored))
      if (const int failure = cap_output_check(path.c_str()); failure != 0) refuse_file(path, failure);
  }
  sukima::calibration_plan plan;
  if (!options.cpus.empty()) {
    const std::set<unsigned> cpus = read_cpu_list(options.cpus).value();
    plan.cpus.assign(cpus.begin(), cpus.end());
  }
  plan.all_pairs = options.all_pairs;
  plan.valid_seconds = options.days.value_or(default_days) * day;
  const sukima::calibration measured = measure_profile(std::move(plan));
  const sukima_capacity_profile profile = measured.profile();
  if (options.file != "-") {
    if (const int failure = sukima_capacity_profile_write(path.c_str(), &profile); failure != 0) {
      print(profile, options.json);  // the measurement may have taken minutes
      refuse_file(path, failure);
    }
    if (!options.json) fmt::print("Written to {}.\n", path);
  }
  print(profile, options.json);
  return process::exit_success;
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments /*program*/) {
  auto options = std::make_shared<calibrate_options>();
  command.footer(footer);
  command
      .add_option("--cpus", options->cpus,
                  "Measure only these CPUs, such as 0,1 or 0-3,8 (default: all allowed CPUs)")
      ->type_name("LIST")
      ->check(cpu_list());
  command.add_flag("--all-pairs", options->all_pairs, "Measure all pairs, also with more than 32 CPUs");
  command.add_option("--days", options->days, "Days for which the profile is valid (default: 30)")
      ->type_name("DAYS")
      ->transform(number_range(0.01, 36500.0));
  command.add_option("--output", options->file, "Write the profile to this file; with - no file is written")
      ->type_name("FILE");
  command.add_flag("--show", options->show, "Measure nothing; print the stored profile");
  command.add_flag("--json", options->json, "Print one JSON object");
  command.callback([options, &code] {
    if (options->show &&
        (!options->cpus.empty() || options->all_pairs || options->days || options->file == "-"))
      throw process::usage_error(
          "--show measures nothing: leave out --cpus, --all-pairs, --days and --output -");
    code = options->show ? show(*options) : measure_and_store(*options);
  });
}

}  // namespace sukima::cli::calibrate
