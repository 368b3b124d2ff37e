// SPDX-License-Identifier: Apache-2.0
// A machine's control groups as directories, in version 1 or 2.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sukima::host {

/// The CPU settings and counters of a group and the groups above it. Times are in seconds.
struct group_facts {
  /// The smallest quota of the group and all groups above it, in CPUs.
  std::optional<double> quota;
  /// 1 is the kernel's default; none: no file states it.
  std::optional<double> weight;
  std::optional<double> usage, throttled;
  /// Time in which at least one thread waited for a CPU.
  std::optional<double> some_waited;
  /// The CPUs that it may use; empty: no file states them.
  std::vector<std::uint32_t> cpus;
};

/// The hierarchies for CPU. A group is identified by its path in them, such as "/docker/1a2b"; "/" is the
/// topmost group that is visible.
class group_tree {
 public:
  /// Finds the mounts in /proc/self/mountinfo. \param root prefix of all paths, to read a recorded machine
  explicit group_tree(std::string root);

  /// Whether there is a hierarchy with the controller cpu.
  bool there() const { return !cpu_.empty(); }
  bool v2() const { return v2_; }
  /// The group's directory in the hierarchy of the controller cpu. \pre there()
  std::string directory(const std::string& group) const { return cpu_ + group; }

  /// \returns nothing if there is no such group
  std::optional<group_facts> facts(const std::string& group) const;
  /// The group with the smallest quota among this one and all above it; "" if none has a quota.
  std::string quota_owner(const std::string& group) const;
  /// The groups that match a pattern of glob(7), such as "/docker/*", in the order of their names.
  std::vector<std::string> match(const std::string& pattern) const;
  /// The names of the groups directly below a group, sorted.
  std::vector<std::string> below(const std::string& group) const;
  /// The threads, or the processes, of a group and of the groups below it; at most `most`.
  std::vector<long> threads(const std::string& group, std::size_t most) const;
  std::vector<long> processes(const std::string& group, std::size_t most) const;
  /// Whether the group, or a group above it, is frozen: its threads do not run (`docker pause`).
  bool frozen(const std::string& group) const;
  /// The group of a process, from the text of its /proc/PID/cgroup; nothing if the text does not contain it.
  std::optional<std::string> group_of(const std::string& text) const;

 private:
  void add_members(const std::string& group, const char* file, std::size_t most, int depth,
                   std::vector<long>& members) const;

  std::string root_;
  bool v2_ = false;
  /// Directories; empty: not mounted. In version 2 all of them are the same.
  std::string cpu_, accounting_, sets_, freezer_;
};

/// A container's name, from the last element of its group's path; nothing if the path does not look like a
/// container. It recognises docker, podman, containerd and CRI-O (also under Kubernetes), LXC and
/// systemd-nspawn.
std::optional<std::string> container_name(const std::string& group);

}  // namespace sukima::host
