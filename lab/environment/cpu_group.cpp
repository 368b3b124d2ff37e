// SPDX-License-Identifier: Apache-2.0
// Control groups of both versions; see cpu_group.hpp.
#include "shared/cpu_group.hpp"

#include <capacity/shared/mount_text.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include <base/shared/descriptor.hpp>
#include <base/shared/read_text.hpp>

namespace sukima::lab {
namespace {

namespace fs = std::filesystem;

/// A mounted hierarchy of control groups.
struct hierarchy {
  int version;
  fs::path mount_root;  ///< the group that is seen at the mount point
  fs::path mount_point;
};

/// The hierarchy that has the CPU controller: version 1 if it is mounted there, else version 2.
std::optional<hierarchy> find_hierarchy(const fs::path& root) {
  std::ifstream mounts(root / "proc/self/mountinfo");
  std::optional<hierarchy> found;
  for (std::string line; std::getline(mounts, line);) {
    // ID parent device ROOT MOUNT-POINT options … - TYPE source SUPER-OPTIONS
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string skipped, mount_root, mount_point, type, source, options;
    before >> skipped >> skipped >> skipped >> mount_root >> mount_point;
    after >> type >> source >> options;
    for (std::string* const path : {&mount_root, &mount_point})
      path->resize(cap_decode_mount_text(path->data(), path->size()));
    if (type == "cgroup" && has_word(options, "cpu", ',')) return hierarchy{1, mount_root, mount_point};
    if (type == "cgroup2" && !found) found = hierarchy{2, mount_root, mount_point};
  }
  return found;
}

/// The path of this process's group in a hierarchy.
std::optional<fs::path> own_group(const fs::path& root, int version) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // NUMBER:CONTROLLERS:PATH, without controllers in version 2
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == 2 ? line.starts_with("0::") : has_word(controllers, "cpu", ','))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

void write_setting(const fs::path& file, const std::string& value) {
  const descriptor out(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!out || write(out.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size())) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot write '" + value + "' to '" + file.string() + "'");
  }
}

}  // namespace

bool has_word(const std::string& list, std::string_view word, char separator) {
  std::istringstream words(list);
  for (std::string one; std::getline(words, one, separator);) {
    if (one == word) return true;
  }
  return false;
}

std::vector<group_parent> find_group_parents(const fs::path& root) {
  const auto mounted = find_hierarchy(root);
  if (!mounted) return {};
  const auto group = own_group(root, mounted->version);
  if (!group) return {};
  const fs::path top = root / mounted->mount_point.relative_path();
  // In a container the mount may show a part of the tree only.
  fs::path below = group->lexically_relative(mounted->mount_root);
  if (below.empty() || below == "." || *below.begin() == "..") below.clear();
  if (mounted->version == 1) return {{below.empty() ? top : top / below, 1}};
  std::vector<group_parent> places;
  while (true) {
    const fs::path directory = below.empty() ? top : top / below;
    std::string handed_down = read_file_text(directory / "cgroup.subtree_control").value_or("");
    std::ranges::replace(handed_down, '\n', ' ');
    if (has_word(handed_down, "cpu", ' ')) places.push_back({directory, 2});
    if (below.empty()) return places;
    below = below.parent_path();
  }
}

cpu_group::cpu_group(const fs::path& parent, const std::string& name, int version, group_removal removal)
    : directory_(parent / name), version_(version) {
  if (mkdir(directory_.c_str(), 0755) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make '" + directory_.string() + "'");
  }
  if (removal == group_removal::also_on_signals) cleanup_.emplace(directory_.string());
}

cpu_group::~cpu_group() { process::remove_directory(directory_.c_str()); }

void cpu_group::set_quota(double cpus, std::chrono::microseconds period) const {
  const long quota = std::lround(cpus * static_cast<double>(period.count()));
  if (version_ == 2) {
    write_setting(directory_ / "cpu.max", std::to_string(quota) + " " + std::to_string(period.count()));
    return;
  }
  write_setting(directory_ / "cpu.cfs_period_us", std::to_string(period.count()));
  write_setting(directory_ / "cpu.cfs_quota_us", std::to_string(quota));
}

void cpu_group::set_weight(int times) const {
  if (version_ == 2)
    write_setting(directory_ / "cpu.weight", std::to_string(100 * times));
  else
    write_setting(directory_ / "cpu.shares", std::to_string(1024 * times));
}

void cpu_group::allow_groups_below() const {
  if (version_ == 2) write_setting(directory_ / "cgroup.subtree_control", "+cpu");
}

void move_into_group(const fs::path& group, pid_t process) {
  write_setting(group / "cgroup.procs", std::to_string(process));
}

}  // namespace sukima::lab
