// SPDX-License-Identifier: Apache-2.0
// The names of control groups, and the removal of groups whose process was killed; see cpu_group.hpp.
#include "shared/cpu_group.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace sukima::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_prefix = "sukima-bench-";

/// The process that a group of a benchmark is named after.
std::optional<pid_t> owner_of(const std::string& name) {
  if (!name.starts_with(name_prefix)) return std::nullopt;
  const std::string_view number = std::string_view(name).substr(name_prefix.size());
  pid_t owner = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), owner);
  if (error != std::errc() || end != number.data() + number.size() || owner <= 0) return std::nullopt;
  return owner;
}

/// Removes a group and the groups below it, which must be without processes.
bool remove_tree(const fs::path& directory) {
  std::vector<fs::path> below;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.is_directory(ignored)) below.push_back(entry.path());
  }
  for (const fs::path& group : below) remove_tree(group);
  return rmdir(directory.c_str()) == 0;
}

}  // namespace

std::string group_name(pid_t bench) { return std::string(name_prefix) + std::to_string(bench); }

int remove_leftover_groups(const group_parent& place) {
  int removed = 0;
  std::vector<fs::path> leftovers;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place.directory, ignored)) {
    const auto owner = owner_of(entry.path().filename().string());
    if (owner && kill(*owner, 0) != 0 && errno == ESRCH) leftovers.push_back(entry.path());
  }
  for (const fs::path& leftover : leftovers) removed += remove_tree(leftover) ? 1 : 0;
  return removed;
}

}  // namespace sukima::lab
