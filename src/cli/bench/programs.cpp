// SPDX-License-Identifier: Apache-2.0
// Finding benchmark programs; see programs.hpp.
#include "programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include "console.hpp"
#include "process/child.hpp"

namespace sukima::cli::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds list_limit{60};

std::optional<fs::path> find_executable(const std::vector<fs::path>& directories, std::string_view name) {
  for (const fs::path& directory : directories) {
    const fs::path file = directory / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return fs::absolute(file);
  }
  return std::nullopt;
}

/// The lines that `file --list` prints; nothing, after a complaint, if that fails.
std::optional<std::set<std::string>> list_benchmarks(const fs::path& file) {
  std::string failure;
  try {
    const child_result result = run_child(
        {.arguments = {file.string(), "--list"}, .environment = {}, .input = {}, .limit = list_limit});
    failure = describe_failure(result, list_limit);
    if (failure.empty()) {
      std::istringstream lines(result.output);
      return std::set<std::string>(std::istream_iterator<std::string>(lines), {});
    }
  } catch (const std::system_error& error) {
    failure = fmt::format("cannot be started ({})", error.code().message());
  }
  complain(fmt::format("{} is left out: '{} --list' {}", file.filename().string(), file.string(), failure));
  return std::nullopt;
}

}  // namespace

std::vector<program> installed_system::having(const std::string& benchmark) const {
  std::vector<program> matching;
  std::ranges::copy_if(programs, std::back_inserter(matching),
                       [&](const program& p) { return p.benchmarks.contains(benchmark); });
  return matching;
}

fs::path own_directory() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::vector<fs::path> program_directories() {
  if (const char* setting = std::getenv("SUKIMA_BENCH_DIR"); setting != nullptr && *setting != '\0') {
    std::vector<fs::path> directories;
    std::istringstream entries(setting);
    for (std::string entry; std::getline(entries, entry, ':');) {
      std::error_code ignored;
      if (!fs::is_directory(entry, ignored)) {
        throw usage_error(
            fmt::format("SUKIMA_BENCH_DIR names '{}', which is not a directory: set it to the directories of "
                        "the benchmark "
                        "programs, separated by ':', or unset it",
                        entry));
      }
      directories.emplace_back(entry);
    }
    return directories;
  }
  const fs::path own = own_directory();
  return {own.parent_path() / "libexec" / "sukima", own};
}

std::vector<installed_system> find_programs(const std::vector<fs::path>& directories) {
  std::vector<installed_system> found;
  for (const system_entry& system : systems()) {
    installed_system& entry = found.emplace_back(std::string(system.name), std::vector<program>{});
    for (const variant_name& variant : system.variants) {
      const auto file = find_executable(directories, variant.program);
      if (!file) continue;
      if (auto benchmarks = list_benchmarks(*file)) {
        if (!system.benchmarks.empty()) {
          std::erase_if(*benchmarks, [&](const std::string& name) {
            return std::ranges::find(system.benchmarks, name) == system.benchmarks.end();
          });
        }
        entry.programs.push_back({*file, std::string(variant.compiler), std::move(*benchmarks)});
      }
    }
  }
  return found;
}

}  // namespace sukima::cli::bench
