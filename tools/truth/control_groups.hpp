// SPDX-License-Identifier: Apache-2.0
// Control groups of our own, version 1 or 2, removed at the end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace sukima::truth {

/// No groups can be made here: the reason in one sentence.
struct no_groups : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class control_groups {
 public:
  /// Finds the hierarchies with the controllers cpu and cpuacct.
  /// \param shielded all groups are made below one that has the largest weight there is: other processes of
  ///                 the machine hardly get anything that a cell wants
  /// \throws no_groups if there is none, or none can be changed
  explicit control_groups(bool shielded = false);
  ~control_groups();
  control_groups(const control_groups&) = delete;
  control_groups& operator=(const control_groups&) = delete;

  /// Makes a group; one above it must have been made before. \throws no_groups
  /// \param name   such as "ours" or "pod/ours"
  /// \param weight 1 is the kernel's default; at most 100
  /// \param quota  in CPUs for each 100 ms, 0: none
  /// \param inner  it will have groups below it instead of processes
  void make(const std::string& name, int weight, double quota, bool inner = false);

  /// Moves a process into a group; "" is the root group.
  void place(pid_t process, const std::string& name) const;

  /// Nanoseconds of CPU time that all processes of the machine have used.
  [[nodiscard]] std::uint64_t machine_use() const;

  /// Removes all groups; their processes have ended. Waits until the kernel agrees, for at most 2 s.
  void remove();

  [[nodiscard]] bool shielded() const { return shielded_; }
  [[nodiscard]] bool v2() const { return v2_; }
  /// Where the hierarchies are mounted: one, or two for cpu and cpuacct.
  [[nodiscard]] const std::vector<std::string>& mounts() const { return mounts_; }
  /// The controllers that each of them was mounted with.
  [[nodiscard]] const std::vector<std::string>& options() const { return options_; }

 private:
  [[nodiscard]] std::string folder(const std::string& mount, const std::string& name) const;

  void find_mounts();

  bool v2_ = false;
  bool shielded_ = false;
  std::vector<std::string> mounts_;
  std::vector<std::string> options_;
  std::vector<std::string> made_;
  std::string prefix_;
};

}  // namespace sukima::truth
