// SPDX-License-Identifier: Apache-2.0
// The control groups of the cells, in all hierarchies of version 1 with cpu and cpuacct, or in version 2.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shared/cpu_group.hpp"

namespace sukima::truth {

/// The reason why no groups can be made here, in one sentence.
struct no_groups : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class control_groups {
 public:
  /// Finds the hierarchies with the controllers cpu and cpuacct.
  /// \param shielded makes all groups below a group of the largest weight, so that other processes of the
  ///                 machine get hardly any CPU while a cell needs it
  /// \throws no_groups if no hierarchy exists or can be changed
  explicit control_groups(bool shielded = false);
  ~control_groups();
  control_groups(const control_groups&) = delete;
  control_groups& operator=(const control_groups&) = delete;

  /// Makes a group. \pre the group above exists \throws no_groups
  /// \param name   such as "ours" or "pod/ours"
  /// \param weight 1 is the kernel's default; at most 100
  /// \param quota  in CPUs per 100 ms; 0: none
  /// \param inner  for a group with groups below it instead of processes
  void make(const std::string& name, int weight, double quota, bool inner = false);

  /// Moves a process into a group; "" is the root group.
  void place(pid_t process, const std::string& name) const;

  /// Returns the nanoseconds of CPU time that all processes of the machine have used.
  [[nodiscard]] std::uint64_t machine_use() const;

  /// Removes all groups except the shield, and waits up to 1 s for the kernel to remove each.
  /// \pre their processes have ended
  void remove();

  [[nodiscard]] bool shielded() const { return shielded_; }
  [[nodiscard]] bool v2() const { return v2_; }
  /// Returns the mount points of the hierarchies: one, or two for cpu and cpuacct.
  [[nodiscard]] const std::vector<std::string>& mounts() const { return mounts_; }
  /// Returns the controllers of each hierarchy.
  [[nodiscard]] const std::vector<std::string>& options() const { return options_; }

 private:
  [[nodiscard]] std::string folder(const std::string& mount, const std::string& name) const;

  void find_mounts();

  bool v2_ = false;
  bool shielded_ = false;
  std::vector<std::string> mounts_;
  std::vector<std::string> options_;
  std::vector<std::unique_ptr<lab::cpu_group>>
      shield_;  ///< before made_, so that the groups below are removed first
  std::vector<std::unique_ptr<lab::cpu_group>> made_;  ///< one for each mount, in the order of creation
  std::string prefix_;
};

}  // namespace sukima::truth
