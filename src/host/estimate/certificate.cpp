// SPDX-License-Identifier: Apache-2.0
// Checks a solution by its certificate; see certificate.hpp.
#include "estimate/certificate.hpp"

namespace sukima::host {
namespace {

constexpr double tolerance = 1e-6;  // CPUs, or, for a sum above one CPU, this part of the sum
constexpr double share_rounding = 1e-9;
constexpr double some = 1e-7;       // smaller amounts of flow are ignored

class check {
 public:
  explicit check(const shares& solution)
      : solution_(solution), given_(solution.given()), cap_of_(given_.claimants.size()) {
    for (const joint_cap& cap : given_.caps) {
      capped_.push_back({.most = cap.most, .sum = 0, .largest = cap.first});
      capped_vm& vm = capped_.back();
      for (std::uint32_t c = cap.first; c < cap.first + cap.count; ++c) {
        cap_of_[c] = capped_.size();
        vm.sum += solution.of(c);
        if (solution.of(c) > solution.of(vm.largest)) vm.largest = c;
      }
    }
  }

  std::string defect() {
    if (std::string wrong = flow_defect(); !wrong.empty()) return wrong;
    if (std::string wrong = bound_defect(); !wrong.empty()) return wrong;
    for (std::uint32_t c = 0; c < given_.claimants.size(); ++c) {
      if (!wants_more(c)) continue;
      if (std::string wrong = reach_defect(c); !wrong.empty())
        return "claimant " + std::to_string(c) + ": " + wrong;
    }
    return "";
  }

 private:
  /// A VM with a cap on all of its claimants together. All of them have the same weight.
  struct capped_vm {
    double most, sum;
    std::uint32_t largest;  // the claimant with the largest share
  };

  std::string flow_defect() {
    got_.assign(given_.vcpus.size(), 0);
    for (std::size_t p = 0; p < given_.capacity.size(); ++p) {
      double sum = 0;
      for (const flow::entry& e : solution_.running().on(p)) {
        if (!given_.vcpus[e.vcpu].may.has(p)) return "a vCPU runs where it may not";
        got_[e.vcpu] += e.amount;
        sum += e.amount;
      }
      if (sum > given_.capacity[p] + tolerance)
        return "pCPU " + std::to_string(p) + " gives more than it has";
      load_.push_back(sum);
    }
    return "";
  }

  static double tolerance_of(double sum) { return tolerance * std::max(1.0, sum); }

  std::string bound_defect() const {
    for (std::size_t i = 0; i < got_.size(); ++i)
      if (got_[i] > given_.vcpus[i].most + tolerance)
        return "vCPU " + std::to_string(i) + " exceeds its bound";
    for (std::uint32_t c = 0; c < given_.claimants.size(); ++c) {
      double sum = 0;
      each_vcpu(c, [&](std::uint32_t i) { sum += got_[i]; });
      if (std::abs(sum - solution_.of(c)) > tolerance_of(sum))
        return "the flow does not meet claimant " + std::to_string(c);
      if (sum > given_.claimants[c].most + tolerance_of(sum))
        return "claimant " + std::to_string(c) + " exceeds its cap";
    }
    for (const capped_vm& vm : capped_)
      if (vm.sum > vm.most + tolerance_of(vm.sum)) return "a VM exceeds its cap";
    return "";
  }

  template <class Take>
  void each_vcpu(std::uint32_t c, Take take) const {
    for (std::uint32_t k = 0; k < given_.claimants[c].count; ++k) take(given_.claimants[c].first + k);
  }
  bool wants_more(std::uint32_t c) const {
    double most = 0;
    each_vcpu(c, [&](std::uint32_t i) { most += given_.vcpus[i].most; });
    const double all = std::min(given_.claimants[c].most, most);
    return solution_.of(c) < all - some * std::max(1.0, all);
  }
  /// Whether `other` has more per weight than `c` by an amount that counts. Rounding the share of a claimant
  /// with a tiny weight changes its level a lot, so `share_rounding` is added to the share of `c`.
  bool has_more(std::uint32_t other, std::uint32_t c) const {
    const double level = (solution_.of(c) + share_rounding) / given_.claimants[c].weight;
    return solution_.of(other) - level * given_.claimants[other].weight > tolerance_of(solution_.of(other));
  }

  /// Searches all pCPUs from which `c` could push other claimants. A vCPU on such a pCPU moves to the other
  /// pCPUs that it may use. A claimant with several vCPUs can also move to its other vCPUs.
  std::string reach_defect(std::uint32_t c) const {
    cpu_set reached(given_.capacity.size());
    std::vector<std::size_t> order;
    std::vector<char> seen(given_.claimants.size());
    const auto open = [&](std::uint32_t i) {
      given_.vcpus[i].may.each_of(given_.vcpus[i].may, reached, [&](std::size_t p) {
        reached.add(p);
        order.push_back(p);
      });
    };
    const auto open_unfilled = [&](std::uint32_t index) {
      if (seen[index] != 0) return;
      seen[index] = 1;
      each_vcpu(index, [&](std::uint32_t i) {
        if (got_[i] < given_.vcpus[i].most - some) open(i);
      });
    };
    // If its VM is at its cap, a vCPU gets more only if another vCPU of the VM gets less.
    if (cap_of_[c] != 0) {
      const capped_vm& vm = capped_[cap_of_[c] - 1];
      if (vm.sum >= vm.most - some * std::max(1.0, vm.most) && !has_more(vm.largest, c)) return "";
    }
    open_unfilled(c);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t p = order[k];
      if (load_[p] < given_.capacity[p] - tolerance)
        return "pCPU " + std::to_string(p) + " in its reach has room";
      for (const flow::entry& e : solution_.running().on(p)) {
        if (e.amount <= some) continue;
        const std::uint32_t other = given_.vcpus[e.vcpu].claimant;
        if (has_more(other, c)) return "claimant " + std::to_string(other) + " in its reach has more";
        open(e.vcpu);
        open_unfilled(other);
      }
    }
    return "";
  }

  const shares& solution_;
  const problem& given_;
  std::vector<capped_vm> capped_;
  std::vector<std::size_t> cap_of_;  // for each claimant: its position in capped_, counted from 1; 0: none
  std::vector<double> got_, load_;
};

}  // namespace

std::string find_defect(const shares& solution) { return check(solution).defect(); }

}  // namespace sukima::host
