// SPDX-License-Identifier: Apache-2.0
// Finds benchmark programs; see programs.hpp.
#include "programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include <base/shared/child.hpp>
#include <cli/shared/console.hpp>

namespace sukima::cli::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds list_limit{60};

/// The lines that `file --list` prints; nothing, after a message, if that fails.
std::optional<std::set<std::string>> list_benchmarks(const fs::path& file) {
  std::string failure;
  try {
    const process::child_result result = process::run_child(
        {.arguments = {file.string(), "--list"}, .environment = {}, .input = {}, .limit = list_limit});
    failure = process::describe_failure(result, list_limit);
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

std::vector<installed_system> find_programs(const std::vector<fs::path>& directories) {
  std::vector<installed_system> found;
  for (const system_entry& system : systems()) {
    installed_system& entry = found.emplace_back(std::string(system.name), std::vector<program>{});
    for (const variant_name& variant : system.variants) {
      const auto file = lab::find_executable(directories, variant.program);
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
