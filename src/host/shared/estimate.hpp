// SPDX-License-Identifier: Apache-2.0
// How many CPUs can each virtual machine use, by the scheduler's settings? Pure functions over a description.
#pragma once

#include <memory>

#include "description.hpp"

namespace sukima::host {

enum class estimate_method {
  exact,  ///< weighted max-min fair shares
  partition,  ///< groups of a graph, as paper 001, section 4.3: too high for some, in few graphs
  formula,  ///< pCPUs × weight / sum of weights, at most the VM's vCPUs: affinities are ignored
};

/// What keeps a virtual machine from using more.
enum class share_limit { vcpus, vcpu_caps, cap, demand, others };

struct vm_estimate {
  /// CPUs: the sum over its vCPUs.
  double usable = 0;
  share_limit limit = share_limit::vcpus;
  /// Of each vCPU, in their order. Where the weight is the VM's, the same usable CPUs may be divided
  /// otherwise among them, too: then these are fair for the pCPUs on which the VM runs.
  std::vector<double> vcpus;
};

struct estimate_options {
  estimate_method method = estimate_method::exact;
  /// The owner of each VM's weight, instead of what the description says.
  std::optional<weight_owner> weight_of = std::nullopt;
};

/// The usable CPUs of each virtual machine, in their order. `exact` takes 1–20 ms for 4096 vCPUs on 256
/// pCPUs.
/// \throws description_error if the description does not say whose a weight is, nor do the options
std::vector<vm_estimate> estimate_shares(const description& host, const estimate_options& how = {});

/// How many vCPUs a virtual machine should have online, at least 1.
struct vcpu_counts {
  /// Usable CPUs with all vCPUs online, rounded up: the count of paper 001.
  std::size_t ceil = 1;
  /// The largest n with usable(n) ≥ n − 0.5, usable(n) being the estimate with the VM's first n vCPUs online:
  /// best for threads that spin.
  std::size_t fit = 1;
};

/// A vCPU's part on a pCPU, in CPUs; positions in the description.
struct running_part {
  std::size_t vm, vcpu, pcpu;
  double amount;
};

/// What a vCPU is at the moment.
struct vcpu_wish {
  bool online = true;
  std::optional<double> demand;  ///< CPUs; none: all that it can get
  bool operator==(const vcpu_wish&) const = default;
};

/// What all vCPUs of a VM are at the moment.
struct vm_wishes {
  std::size_t vm = 0;
  std::vector<vcpu_wish> vcpus;
};

/// What a VM could use if it wanted all that it can get, beside what the others want.
struct vm_potential {
  double usable = 0;  ///< CPUs, with the vCPUs that are online
  double usable_by_all = 0;  ///< CPUs, with all of its vCPUs online
  vcpu_counts counts;
};

/// The exact estimate, which follows changes. In debug builds each answer is checked by its certificate.
class estimator {
 public:
  /// \throws description_error as estimate_shares
  explicit estimator(description host, std::optional<weight_owner> weight_of = std::nullopt);
  ~estimator();
  estimator(estimator&&) noexcept;
  estimator& operator=(estimator&&) noexcept;

  const description& given() const;
  /// The usable CPUs of a VM. Precondition here and below: the VM exists.
  double usable(std::size_t vm) const;
  /// As estimate_shares.
  vm_estimate of(std::size_t vm) const;
  /// Which vCPU runs where in this solution: one of many. Soft affinities are followed where that costs no
  /// other anything.
  std::vector<running_part> running() const;

  /// Replaces a VM by what it is now, with as many vCPUs, and solves again what that touches: 0.1–5 ms for
  /// 4096 vCPUs on 256 pCPUs.
  /// \throws description_error as estimate_shares, or if a pCPU does not exist or the number of vCPUs differs
  void change(std::size_t vm, const host::vm& now);
  /// Replaces what the vCPUs of some VMs are. One solution for all of them together takes hardly longer than
  /// one for a single VM. Precondition: all vCPUs of each VM are given.
  void change(const std::vector<vm_wishes>& now);
  /// Replaces the capacity of the pCPU at this position.
  void change_capacity(std::size_t pcpu, double capacity);

  /// Its usable CPUs if its first n vCPUs were online. Precondition: n is at most their number.
  double usable_with(std::size_t vm, std::size_t n) const;
  /// By bisection: usable(n) grows by at most 1 with n, so that once n is too large, all larger ones are.
  vcpu_counts counts(std::size_t vm) const;
  vm_potential potential(std::size_t vm) const;

  /// How many questions of the functions above could not be answered from the solution, and were solved in a
  /// copy of it. For tests of what they cost.
  std::size_t solved_again() const;

  /// Why the solution is wrong; empty if its certificate holds. Takes time quadratic in the number of vCPUs.
  std::string defect() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace sukima::host
