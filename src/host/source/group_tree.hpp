// SPDX-License-Identifier: Apache-2.0
// Control groups of a machine as directories, in version 1 or 2.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sukima::host {

/// What a group and those above it say of CPU. Times are in seconds.
struct group_facts {
  /// The smallest quota of the group and all above it, in CPUs.
  std::optional<double> quota;
  /// 1 is the kernel's default; none: no file says.
  std::optional<double> weight;
  std::optional<double> usage, throttled;
  /// Time in which at least one thread waited for a CPU.
  std::optional<double> some_waited;
  /// The CPUs that it may use; empty: no file says.
  std::vector<std::uint32_t> cpus;
};

/// The hierarchies that have to do with CPU. A group is named by its path in them, "/docker/1a2b", "/" for
/// the uppermost one that can be seen.
class group_tree {
 public:
  /// Finds the mounts in /proc/self/mountinfo. \param root goes before all paths, to read a recorded machine
  explicit group_tree(std::string root);

  /// Whether there is a hierarchy with the controller cpu.
  bool there() const { return !cpu_.empty(); }
  bool v2() const { return v2_; }
  /// The group's directory of the controller cpu. Precondition: there().
  std::string directory(const std::string& group) const { return cpu_ + group; }

  /// \returns none if there is no such group
  std::optional<group_facts> facts(const std::string& group) const;
  /// The group whose quota is the smallest of this one and all above it; "" if none has one.
  std::string quota_owner(const std::string& group) const;
  /// The groups of a pattern of glob(7), such as "/docker/*", in the order of their names.
  std::vector<std::string> match(const std::string& pattern) const;
  /// The names of the groups in a group, in order.
  std::vector<std::string> below(const std::string& group) const;
  /// The threads of a group, or its processes, and of the groups below it; at most `most`.
  std::vector<long> threads(const std::string& group, std::size_t most) const;
  std::vector<long> processes(const std::string& group, std::size_t most) const;
  /// Whether the group is frozen: its threads do not run (`docker pause`).
  bool frozen(const std::string& group) const;
  /// The group of a process, by the text of /proc/PID/cgroup; none if that does not say.
  std::optional<std::string> group_of(const std::string& text) const;

 private:
  void add_members(const std::string& group, const char* file, std::size_t most, int depth,
                   std::vector<long>& members) const;

  std::string root_;
  bool v2_ = false;
  /// Directories; empty: not mounted. In version 2 all are the same.
  std::string cpu_, accounting_, sets_, freezer_;
};

/// What the last element of a group's path says of a container: its name; none if it looks like no container.
/// Known are docker, podman, containerd and CRI-O (also under Kubernetes), LXC and systemd-nspawn.
std::optional<std::string> container_name(const std::string& group);

}  // namespace sukima::host
