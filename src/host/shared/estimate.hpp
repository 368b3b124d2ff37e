// SPDX-License-Identifier: Apache-2.0
// Estimates how many CPUs each virtual machine can use under the scheduler's settings. All functions are pure
// functions of a description.
#pragma once

#include <memory>

#include "description.hpp"

namespace sukima::host {

enum class estimate_method {
  exact,  ///< weighted max-min fair shares
  partition,  ///< groups of a graph, as in paper 001, section 4.3; too high for some machines in a few graphs
  formula,  ///< pCPUs × weight / sum of weights, at most the VM's vCPUs; ignores affinities
};

/// The reason why a virtual machine cannot use more.
enum class share_limit { vcpus, vcpu_caps, cap, demand, others };

struct vm_estimate {
  /// CPUs: the sum over its vCPUs.
  double usable = 0;
  share_limit limit = share_limit::vcpus;
  /// The share of each vCPU, in their order. If the weight belongs to the VM, other divisions of its usable
  /// CPUs among its vCPUs may be valid, too; this one is fair for the pCPUs on which the VM runs.
  std::vector<double> vcpus;
};

struct estimate_options {
  estimate_method method = estimate_method::exact;
  /// The owner of each VM's weight; overrides the description.
  std::optional<weight_owner> weight_of = std::nullopt;
};

/// Estimates the usable CPUs of each virtual machine, in their order. `exact` takes 1–20 ms for 4096 vCPUs on
/// 256 pCPUs.
/// \throws description_error  neither the description nor the options state the owner of a weight
std::vector<vm_estimate> estimate_shares(const description& host, const estimate_options& how = {});

/// The recommended number of online vCPUs of a virtual machine, at least 1.
struct vcpu_counts {
  /// Usable CPUs with all vCPUs online, rounded up. Paper 001 uses this count.
  std::size_t ceil = 1;
  /// The largest n with usable(n) ≥ n − 0.5, where usable(n) is the estimate with the VM's first n vCPUs
  /// online. It is the best count for threads that spin.
  std::size_t fit = 1;
};

/// The share that a vCPU gets of one pCPU, in CPUs. The numbers are positions in the description.
struct running_part {
  std::size_t vm, vcpu, pcpu;
  double amount;
};

/// The present state of a vCPU: whether it is online, and how much CPU it wants.
struct vcpu_wish {
  bool online = true;
  std::optional<double> demand;  ///< CPUs; none: as much as it can get
  bool operator==(const vcpu_wish&) const = default;
};

/// The present state of all vCPUs of a VM.
struct vm_wishes {
  std::size_t vm = 0;
  std::vector<vcpu_wish> vcpus;
};

/// The CPUs that a VM could use if it wanted all that it can get, given the present demands of the others.
struct vm_potential {
  double usable = 0;  ///< CPUs, with the vCPUs that are online
  double usable_by_all = 0;  ///< CPUs, with all of its vCPUs online
  vcpu_counts counts;
};

/// The exact estimate, updated as the description changes. Debug builds check each answer by its certificate.
class estimator {
 public:
  /// \throws description_error as estimate_shares
  explicit estimator(description host, std::optional<weight_owner> weight_of = std::nullopt);
  ~estimator();
  estimator(estimator&&) noexcept;
  estimator& operator=(estimator&&) noexcept;

  const description& given() const;
  /// The usable CPUs of a VM. \pre here and below: the VM exists
  double usable(std::size_t vm) const;
  /// The estimate of one VM, as estimate_shares returns it.
  vm_estimate of(std::size_t vm) const;
  /// Which vCPU runs on which pCPU in this solution, which is one of many. It follows soft affinities as far
  /// as that costs no other vCPU anything.
  std::vector<running_part> running() const;

  /// Replaces a VM by its new state, with the same number of vCPUs, and solves the affected part again. Takes
  /// 0.1–5 ms for 4096 vCPUs on 256 pCPUs.
  /// \throws description_error  as estimate_shares, or if a pCPU does not exist or the number of vCPUs
  ///   differs
  void change(std::size_t vm, const host::vm& now);
  /// Replaces the states of the vCPUs of some VMs. Solving for all of them together takes hardly longer than
  /// for one VM. \pre all vCPUs of each VM are given
  void change(const std::vector<vm_wishes>& now);
  /// Replaces the capacity of the pCPU at this position.
  void change_capacity(std::size_t pcpu, double capacity);

  /// The usable CPUs of the VM if only its first n vCPUs were online. \pre n is at most their number
  double usable_with(std::size_t vm, std::size_t n) const;
  /// Computes the counts by bisection. That is valid because usable(n) grows by at most 1 with n: if n is too
  /// large, all larger counts are too large.
  vcpu_counts counts(std::size_t vm) const;
  vm_potential potential(std::size_t vm) const;

  /// The number of queries of the functions above that could not be answered from the solution, so that a
  /// copy of it was solved. For tests of the cost.
  std::size_t solved_again() const;

  /// Why the solution is wrong; empty if its certificate holds. Takes time quadratic in the number of vCPUs.
  std::string defect() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace sukima::host
