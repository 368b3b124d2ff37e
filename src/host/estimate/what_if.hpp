// SPDX-License-Identifier: Apache-2.0
// What one VM would get with other bounds, while all else stays as it is.
#pragma once

#include <optional>
#include <span>

#include "estimate/shares.hpp"

namespace sukima::host {

/// The VM that is asked about: its claimants and its vCPUs, and whether they are one claimant.
struct vm_range {
  std::uint32_t claimant = 0, end_claimant = 0;
  std::uint32_t vcpu = 0, end_vcpu = 0;
  bool joint_weight = false;
};

/// Answers for one solution, which must outlive this and not change.
///
/// A group is even if all of its vCPUs may use all of its pCPUs, and no others. A change within an even group
/// stays there, because its pCPUs can always be shared out at one level. That level takes O(log n), by sums
/// that are made once. Other changes are solved in a copy of the solution, which is made once.
class what_if {
 public:
  explicit what_if(const shares& solution);

  /// The VM's CPUs if its vCPUs had these bounds, in their order.
  double usable(const vm_range& vm, std::span<const double> most);

  /// Whether the VM is one claimant whose vCPUs may all use the same pCPUs. Then a bound of its sum, if it is
  /// less than what the VM gets without it, is what the VM gets.
  bool is_uniform(const vm_range& vm) const;

  /// How many questions needed the copy; for tests of what answers cost.
  std::size_t solved() const { return solved_; }

 private:
  /// A claimant of an even group. Its demand grows with the level up to `bend`.
  struct member {
    double bend, most, weight;
  };
  struct even_group {
    bool even = true;
    double room = 0;
    std::vector<member> members;  ///< by their bends
    std::vector<double> most_before;  ///< the sum of `most` of those before a member
    std::vector<double> weight_from;  ///< the sum of `weight` from a member on
  };
  /// One claimant of the VM: what it is in the solution, and what it would be.
  struct replaced {
    member before, after;
  };

  void look_for_groups();
  void mark_uneven();
  void add_members();
  std::optional<double> by_present(const vm_range& vm, std::span<const double> most) const;
  std::optional<double> by_bound(const vm_range& vm, std::span<const double> most) const;
  std::optional<double> by_groups(const vm_range& vm, std::span<const double> most);
  double by_copy(const vm_range& vm, std::span<const double> most);
  void put_back(std::vector<std::uint32_t>& changed);
  member member_of(const vm_range& vm, std::uint32_t claimant, std::span<const double> most) const;
  member member_of(std::uint32_t claimant) const;
  static double share_in(const even_group& group, const std::vector<replaced>& own);
  static double level_in(const even_group& group, const std::vector<replaced>& own);

  const shares& solution_;
  std::vector<char> has_cap_;  ///< of a claimant: it has a cap together with the others of its VM
  bool has_groups_ = false;
  std::vector<even_group> groups_;
  std::optional<shares> copy_;
  std::optional<vm_range> changed_;  ///< the VM whose bounds the copy has changed
  std::size_t solved_ = 0;
};

}  // namespace sukima::host
