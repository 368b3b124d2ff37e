// SPDX-License-Identifier: Apache-2.0
// Switches the CPUs of a guest on and off, and finds out which are online.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sukima::host {

/// Switches CPUs of this machine off and on through sysfs. At the end it switches on the CPUs that it
/// switched off, and switches off the CPUs that were plugged in while it followed a number. It also does so
/// after the process was killed, because files list these CPUs before they are switched. CPU 0 always stays
/// on, and CPUs that another program switched off stay off.
class cpu_switch {
 public:
  /// Switches on the CPUs that an earlier run left off.
  /// \param root the folder that contains /sys and /run; "/" outside tests
  explicit cpu_switch(std::filesystem::path root);

  /// Makes `count` CPUs online, as far as possible. It switches off the CPUs with the highest numbers. It
  /// switches on only CPUs that it switched off, and CPUs that were plugged in while it followed a number.
  /// \param count 0 counts as 1
  /// \returns a sentence about what failed; the next call tries it again. O(CPUs).
  std::optional<std::string> follow(unsigned count);
  /// Stops following a number: switches on all CPUs that it switched off, and switches off the CPUs that were
  /// plugged in while it followed a number. \returns as `follow`
  std::optional<std::string> restore();
  /// Accepts CPUs that were plugged in while no number is followed: this object will not switch them off.
  /// O(CPUs).
  void accept_present();

  /// The CPUs that are online, ascending; empty if they cannot be read.
  std::vector<std::uint32_t> online() const;
  /// The CPUs that it has switched off and will switch on again.
  const std::set<std::uint32_t>& off() const { return off_; }

 private:
  std::filesystem::path file_of(std::uint32_t cpu) const;
  bool is_there(std::uint32_t cpu) const;
  std::optional<std::string> set(std::uint32_t cpu, bool on);
  std::optional<std::string> keep(const char* name, const std::set<std::uint32_t>& cpus) const;
  std::optional<std::string> claim_plugged();
  std::optional<std::string> switch_off(std::uint32_t cpu);
  std::optional<std::string> switch_on(std::uint32_t cpu);
  std::vector<std::uint32_t> present() const;

  std::filesystem::path root_;
  std::set<std::uint32_t> off_;
  std::set<std::uint32_t> known_;  ///< CPUs that existed while it followed no number
  std::set<std::uint32_t> plugged_;  ///< CPUs that were plugged in while it followed a number
  bool follows_ = false;
};

}  // namespace sukima::host
