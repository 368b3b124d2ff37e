// SPDX-License-Identifier: Apache-2.0
// Computes what one VM would get with other bounds, while everything else stays the same.
#pragma once

#include <optional>
#include <span>

#include "estimate/shares.hpp"

namespace sukima::host {

/// The positions of the VM's claimants and vCPUs, and whether its vCPUs are one claimant.
struct vm_range {
  std::uint32_t claimant = 0, end_claimant = 0;
  std::uint32_t vcpu = 0, end_vcpu = 0;
  bool joint_weight = false;
};

/// Answers queries about one solution, which must outlive this object and must not change.
///
/// A group is even if all of its vCPUs may use all of its pCPUs, and no others. A change within an even group
/// has no effect outside it, because the group's pCPUs can always be divided at one level. Finding that level
/// takes O(log n) with sums that are computed once. All other changes are solved in a copy of the solution,
/// which is made once.
class what_if {
 public:
  explicit what_if(const shares& solution);

  /// The CPUs that the VM would get if its vCPUs had these bounds, in their order.
  double usable(const vm_range& vm, std::span<const double> most);

  /// Whether the VM is one claimant whose vCPUs may all use the same pCPUs. Then the VM gets the smaller of
  /// the bound on its sum and its share without that bound.
  bool is_uniform(const vm_range& vm) const;

  /// The number of queries that needed the copy; for tests of the cost of answers.
  std::size_t solved() const { return solved_; }

 private:
  /// A claimant of an even group. Its demand grows with the level until the level `bend`.
  struct member {
    double bend, most, weight;
  };
  struct even_group {
    bool even = true;
    double room = 0;
    std::vector<member> members;  ///< sorted by `bend`
    std::vector<double> most_before;  ///< the sum of `most` over the members before a position
    std::vector<double> weight_from;  ///< the sum of `weight` over the members from a position on
  };
  /// One claimant of the VM: its present state in the solution, and its new state.
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
  std::vector<char> has_cap_;  ///< for each claimant: whether a joint cap of its VM applies to it
  bool has_groups_ = false;
  std::vector<even_group> groups_;
  std::optional<shares> copy_;
  std::optional<vm_range> changed_;  ///< the VM whose bounds the copy has changed
  std::size_t solved_ = 0;
};

}  // namespace sukima::host
