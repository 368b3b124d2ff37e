// SPDX-License-Identifier: Apache-2.0
// Computes exact weighted max-min fair shares by divide and conquer over maximum flows, and updates them
// after changes.
#pragma once

#include "estimate/flow.hpp"

namespace sukima::host {

/// The solution of a problem: groups of pCPUs, each with the claimants that share them at one level.
///
/// How `solve` works: It finds the level at which all demands together fill all pCPUs, and pushes flow away
/// from overloaded pCPUs. If some flow is left over, let R be the pCPUs that are reachable from the
/// overloaded ones. The elements confined to R must get less, and all others get more, which gives two
/// independent subproblems. An element of several vCPUs may have some vCPUs confined to R and others outside.
/// The others get all that they may: they are a fixed demand in the outer subproblem and an offset in the
/// inner one. Flows only find cuts, and levels are computed from sets, so rounding errors do not accumulate.
class shares {
 public:
  explicit shares(problem given);
  shares(const shares& other);
  shares& operator=(const shares&) = delete;

  const problem& given() const { return given_; }
  /// The problem, for changes before `update`. The numbers of pCPUs, vCPUs and claimants, and the owner of
  /// each vCPU must not change.
  problem& change() { return given_; }
  /// Solves the whole problem. Takes 1–20 ms for 4096 vCPUs on 256 pCPUs.
  void solve();
  /// Solves the part that changes of these claimants and pCPUs affect: their groups and the highest groups
  /// that they may use, then each group with a vCPU that may run in a higher group. The result is the same as
  /// by `solve`.
  void update(std::vector<std::uint32_t> claimants, const std::vector<std::uint32_t>& pcpus = {});

  /// The share of a claimant, in CPUs.
  double of(std::size_t claimant) const { return got_[claimant]; }
  const flow& running() const { return flow_; }
  /// The number of flow searches so far; for tests of the cost of solutions.
  std::uint32_t searches() const { return flow_.searches(); }
  std::size_t group_count() const { return groups_.size(); }
  const cpu_set& cpus_of(std::size_t number) const { return groups_[number].cpus; }
  /// The group that determined a claimant's level, and the group in which a vCPU runs; below 0: none.
  std::int32_t home_of(std::size_t claimant) const { return home_[claimant]; }
  std::int32_t group_of_vcpu(std::size_t vcpu) const { return group_of_vcpu_[vcpu]; }
  /// \returns the first invariant of a solution that does not hold, or null
  const char* violated_invariant() const;

 private:
  struct group {
    double level;
    cpu_set cpus;
  };
  static constexpr std::int32_t nowhere = -1;
  using flags = std::vector<char>;

  void solve_part(subproblem part);
  void solve_next();
  void prune(subproblem& part) const;
  void settle(const subproblem& part, double level);
  void split(const subproblem& part, const flow::cut& by, subproblem& below, subproblem& above);
  void add_group(const subproblem& part, double level);

  void solve_loose(flags& loose, flags& touched);
  void close_over_claimants(flags& loose, flags& touched) const;
  subproblem take_apart(const flags& loose, const flags& touched);
  void touch(std::uint32_t claimant, flags& touched) const;
  bool touch_violations(flags& touched) const;
  /// The level of a claimant, for its vCPUs that contribute nothing to its share. If such a vCPU may use a
  /// group with a higher level, the solution is not final.
  double level_of(std::uint32_t claimant) const;
  void enforce_caps();
  bool lower_bounds(const joint_cap& cap, flags& loose);
  bool is_group(std::int32_t number) const {
    return number >= 0 && static_cast<std::size_t>(number) < groups_.size();
  }

  problem given_;
  problem all_;  // as `given_`, but with bounds of vCPUs lowered if caps of VMs require it
  flow flow_;
  std::vector<double> got_;
  std::vector<group> groups_;
  // home_: the group that determined a claimant's level.
  std::vector<std::int32_t> group_of_vcpu_, group_of_pcpu_, home_;
  std::vector<subproblem> waiting_;
};

}  // namespace sukima::host
