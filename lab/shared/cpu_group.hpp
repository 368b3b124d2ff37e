// SPDX-License-Identifier: Apache-2.0
// Control groups of version 1 or 2 that this process makes and removes. Groups of others are never changed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <base/shared/interruption.hpp>

namespace sukima::lab {

/// A group of the kernel's CPU controller in which groups may be made.
struct group_parent {
  std::filesystem::path directory;
  int version;  ///< version of the control groups: 1 or 2

  bool operator==(const group_parent&) const = default;
};

/// Returns groups in which groups for CPU time could be made, the best first. In version 1 it is the group of
/// this process. In version 2 it is that group and its ancestors, as far as they pass the CPU controller on.
/// `root` is the folder of /proc and the mounted groups. Empty if the controller is not mounted or not passed
/// on. O(groups above this process).
std::vector<group_parent> find_group_parents(const std::filesystem::path& root = "/");

/// Determines when a group is removed.
enum class group_removal {
  at_end,  ///< when its object is destroyed
  also_on_signals,  ///< also when SIGINT, SIGTERM or SIGHUP ends this process
};

/// A group below a group_parent or below another group of ours.
class cpu_group {
 public:
  /// Makes the group with the default weight. Throws std::system_error, which names the file, if the kernel
  /// does not allow it.
  cpu_group(const std::filesystem::path& parent, const std::string& name, int version,
            group_removal removal = group_removal::also_on_signals);
  ~cpu_group();
  cpu_group(const cpu_group&) = delete;
  cpu_group& operator=(const cpu_group&) = delete;

  /// Gives all its processes together that many CPU seconds per second, in periods of this length, 1 to 1000
  /// ms. `cpus` > 0. Throws std::system_error.
  void set_quota(double cpus, std::chrono::microseconds period = std::chrono::milliseconds(100)) const;

  /// Sets its weight to that many times the default weight, 1 to 100. Throws std::system_error.
  void set_weight(int times) const;

  /// In version 2, passes the CPU controller on to the groups below; in version 1 nothing is needed. Throws
  /// std::system_error.
  void allow_groups_below() const;

  const std::filesystem::path& directory() const { return directory_; }
  /// Returns the file into which a process writes "0" to enter.
  std::filesystem::path processes() const { return directory_ / "cgroup.procs"; }
  int version() const { return version_; }

 private:
  std::filesystem::path directory_;
  int version_;
  std::optional<process::removed_on_signal> cleanup_;
};

/// Moves a process into a group. Throws std::system_error.
void move_into_group(const std::filesystem::path& group, pid_t process);

/// Returns whether a list such as "rw,cpu,cpuacct" contains a word.
bool has_word(const std::string& list, std::string_view word, char separator);

/// Returns the name of the group that contains all groups of the process `bench`: "sukima-bench-PID".
std::string group_name(pid_t bench);

/// Removes the groups that a killed benchmark has left at a place: those named by group_name for a process
/// that no longer exists. Groups that still have processes remain. Returns how many were removed.
int remove_leftover_groups(const group_parent& place);

}  // namespace sukima::lab
