// SPDX-License-Identifier: Apache-2.0
// Exact weighted max-min fair shares, by divide and conquer over maximum flows; and again after changes.
#pragma once

#include "estimate/flow.hpp"

namespace sukima::host {

/// The solution of a problem: groups of pCPUs, each with the claimants that share them at one level.
///
/// solve: the level at which all demands together fill all pCPUs; push too much away from pCPUs; if something
/// is left over, R are the pCPUs reachable from those that have too much. The elements confined to R get
/// less, all others more: two independent subproblems. An element of several vCPUs may have some confined to
/// R and others outside: those get all that they may, a fixed demand on the other side and an offset on this
/// one. The flow finds cuts only; levels come from sets, so rounding does not add up.
class shares {
 public:
  explicit shares(problem given);
  shares(const shares& other);
  shares& operator=(const shares&) = delete;

  const problem& given() const { return given_; }
  /// The problem, to be changed before `update`. The numbers of pCPUs, vCPUs and claimants, and the owner of
  /// each vCPU must stay.
  problem& change() { return given_; }
  /// Solves everything. 1–20 ms for 4096 vCPUs on 256 pCPUs.
  void solve();
  /// Solves what changes of these claimants and pCPUs touch: their groups and the highest groups that they
  /// may use, then each group with a vCPU that may run in a higher one. The result is that of `solve`.
  void update(std::vector<std::uint32_t> claimants, const std::vector<std::uint32_t>& pcpus = {});

  /// What a claimant gets, in CPUs.
  double of(std::size_t claimant) const { return got_[claimant]; }
  const flow& running() const { return flow_; }
  /// How many searches of a flow there were; for tests of what solutions cost.
  std::uint32_t searches() const { return flow_.searches(); }
  std::size_t group_count() const { return groups_.size(); }
  const cpu_set& cpus_of(std::size_t number) const { return groups_[number].cpus; }
  /// The group in which a claimant's level was decided, and the one in which a vCPU runs; below 0: none.
  std::int32_t home_of(std::size_t claimant) const { return home_[claimant]; }
  std::int32_t group_of_vcpu(std::size_t vcpu) const { return group_of_vcpu_[vcpu]; }

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
  /// Of a claimant with vCPUs that have no part in its share: those count in groups of a higher level.
  double level_of(std::uint32_t claimant) const;
  void enforce_caps();
  bool lower_bounds(const joint_cap& cap, flags& loose);

  problem given_;
  problem all_;  // as given, with the bounds of vCPUs lowered where caps of VMs need it
  flow flow_;
  std::vector<double> got_;
  std::vector<group> groups_;
  // Home: the group in which a claimant's level was decided.
  std::vector<std::int32_t> group_of_vcpu_, group_of_pcpu_, home_;
  std::vector<subproblem> waiting_;
};

}  // namespace sukima::host
