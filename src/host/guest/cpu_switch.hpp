// SPDX-License-Identifier: Apache-2.0
// Which CPUs of a guest are online, and switching them.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sukima::host {

/// Switches CPUs of this machine off and on, through sysfs. What it switched off it brings back, and what was
/// plugged in while it followed a number it switches off again, also after a kill: files name these CPUs
/// before they are switched. CPU 0 stays on, and what another program switched off stays off.
class cpu_switch {
 public:
  /// \param root the folder in which /sys and /run are; "/" outside tests
  /// Brings back what an earlier run left off.
  explicit cpu_switch(std::filesystem::path root);

  /// Has `count` CPUs online, as far as that can be: switches off those with the highest numbers; switches
  /// on only those that it switched off, and those plugged in while it followed a number.
  /// \param count 0 counts as 1
  /// \returns what went wrong, in a sentence; it is tried again at the next call. O(CPUs).
  std::optional<std::string> follow(unsigned count);
  /// Follows no number any more: brings back all that it switched off, and switches off what was plugged in
  /// since then. \returns as `follow`
  std::optional<std::string> restore();
  /// While no number is followed: what was plugged in belongs to others, and is left alone. O(CPUs).
  void accept_present();

  /// The CPUs that are online, ascending; empty if that cannot be read.
  std::vector<std::uint32_t> online() const;
  /// Those that it has switched off and will bring back.
  const std::set<std::uint32_t>& off() const { return off_; }

 private:
  std::filesystem::path file_of(std::uint32_t cpu) const;
  std::optional<std::string> set(std::uint32_t cpu, bool on);
  std::optional<std::string> keep(const char* name, const std::set<std::uint32_t>& cpus) const;
  std::optional<std::string> claim_plugged();
  std::optional<std::string> switch_off(std::uint32_t cpu);
  std::optional<std::string> switch_on(std::uint32_t cpu);
  std::vector<std::uint32_t> present() const;

  std::filesystem::path root_;
  std::set<std::uint32_t> off_;
  std::set<std::uint32_t> known_;  ///< those that were there while it followed none
  std::set<std::uint32_t> plugged_;  ///< those that came while it followed a number
  bool follows_ = false;
};

}  // namespace sukima::host
