// SPDX-License-Identifier: Apache-2.0
// Control groups for the scenarios: made here, removed here; groups of others are never changed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "process/interruption.hpp"

namespace sukima::cli {

/// A group of the kernel's CPU controller in which groups may be made.
struct group_place {
  std::filesystem::path directory;
  int version;  ///< of the control groups: 1 or 2

  bool operator==(const group_place&) const = default;
};

/// Where groups for CPU time could be made, the best place first: in version 1 the group of this process; in
/// version 2 that group or the nearest of its ancestors that hands the CPU controller to its children. `root`
/// is where /proc and the mounted groups are looked for. Empty if the controller is not mounted or not handed
/// down. O(groups above this process).
std::vector<group_place> find_group_places(const std::filesystem::path& root = "/");

/// A group below a group_place or below another group of ours. Removed at the end, or by a signal that ends
/// this process.
class cpu_group {
 public:
  /// Makes the group with the default weight. Throws std::system_error, which names the file, if that is not
  /// allowed.
  cpu_group(const std::filesystem::path& parent, const std::string& name, int version);
  ~cpu_group();
  cpu_group(const cpu_group&) = delete;
  cpu_group& operator=(const cpu_group&) = delete;

  /// Gives its processes together that many CPU seconds a second, in periods of 100 ms. `cpus` > 0. Throws
  /// std::system_error.
  void set_quota(double cpus) const;

  /// In version 2, hands the CPU controller to the groups below; nothing is needed in version 1. Throws
  /// std::system_error.
  void allow_groups_below() const;

  const std::filesystem::path& directory() const { return directory_; }
  /// The file into which a process writes "0" to enter.
  std::filesystem::path processes() const { return directory_ / "cgroup.procs"; }
  int version() const { return version_; }

 private:
  std::filesystem::path directory_;
  int version_;
  std::optional<doomed_directory> doomed_;
};

/// The name of the group that holds all groups of the process `bench`: "sukima-bench-PID".
std::string group_name(pid_t bench);

/// Removes the groups that a benchmark which was killed has left at a place: those named by group_name for a
/// process that is gone. What still has processes in it stays. Returns how many were removed.
int remove_leftover_groups(const group_place& place);

}  // namespace sukima::cli
