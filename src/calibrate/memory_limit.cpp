// SPDX-License-Identifier: Apache-2.0
// Reads the memory limits of control groups; see memory_limit.hpp.
#include "memory_limit.hpp"

#include <base/shared/read_text.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

namespace sukima::calibrate_detail {

namespace {

constexpr std::uint64_t no_limit = UINT64_MAX;

/// Returns the number in a file; no_limit for "max", and for a file that does not exist.
std::uint64_t limit_in(const std::string& file) {
  const std::string text = read_file_text(file).value_or("");
  std::uint64_t bytes = no_limit;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return failure == std::errc() ? bytes : no_limit;
}

/// Returns the smallest limit of a group and of those above it. In a container the group's path may be that
/// of the host. Then only the highest folder exists, and has the container's limit.
std::uint64_t limit_above(const std::string& mount, std::string group, const std::string& name) {
  std::uint64_t least = no_limit;
  for (;;) {
    least = std::min(least, limit_in(mount + group + name));
    if (group.empty()) return least;
    const std::size_t slash = group.rfind('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

}  // namespace

std::uint64_t memory_limit(const std::string& root) {
  std::istringstream lines(read_file_text(root + "/proc/self/cgroup").value_or(""));
  std::uint64_t least = no_limit;
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/group", version 2: "0::/group"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (line.starts_with("0::"))
      least = std::min(least, limit_above(root + "/sys/fs/cgroup", group, "/memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, limit_above(root + "/sys/fs/cgroup/memory", group, "/memory.limit_in_bytes"));
  }
  return least;
}

}  // namespace sukima::calibrate_detail
