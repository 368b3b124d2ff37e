// SPDX-License-Identifier: Apache-2.0
// The exact estimate of a description, its changes, and counts of vCPUs; see shared/estimate.hpp.
#include <cmath>

#include "estimate/certificate.hpp"
#include "estimate/translation.hpp"

namespace sukima::host {

struct estimator::state {
  state(description given, std::optional<weight_owner> weight_of)
      : host(std::move(given)), numbers(host, weight_of), solution(numbers.all) {
    solution.solve();
    verify();
  }

  void verify() const {
#ifndef NDEBUG
    if (const std::string wrong = find_defect(solution); !wrong.empty())
      throw std::logic_error("the estimate is wrong: " + wrong);
#endif
  }
  double usable(const shares& of, std::size_t vm) const {
    double sum = 0;
    for (std::uint32_t c = numbers.first_claimant(vm); c < numbers.end_claimant(vm); ++c) sum += of.of(c);
    return sum;
  }
  /// Solves again with the VM's first n vCPUs online, and no others.
  double usable_with(shares& of, std::size_t vm, std::size_t n) const {
    std::vector<std::uint32_t> changed;
    for (std::uint32_t i = numbers.first_vcpu(vm); i < numbers.end_vcpu(vm); ++i) {
      const std::size_t number = i - numbers.first_vcpu(vm);
      const double most = number < n ? bound_of(host.vms[vm].vcpus[number]) : 0;
      runnable& one = of.change().vcpus[i];
      if (one.most == most) continue;
      one.most = most;
      if (changed.empty() || changed.back() != one.claimant) changed.push_back(one.claimant);
    }
    if (!changed.empty()) of.update(std::move(changed));
    return usable(of, vm);
  }

  description host;
  translation numbers;
  shares solution;
};

estimator::estimator(description host, std::optional<weight_owner> weight_of)
    : state_(std::make_unique<state>(std::move(host), weight_of)) {}
estimator::~estimator() = default;
estimator::estimator(estimator&&) noexcept = default;
estimator& estimator::operator=(estimator&&) noexcept = default;

const description& estimator::given() const { return state_->host; }

double estimator::usable(std::size_t vm) const { return state_->usable(state_->solution, vm); }

vm_estimate estimator::of(std::size_t vm) const {
  const translation& numbers = state_->numbers;
  vm_estimate result;
  result.usable = usable(vm);
  result.limit = limit_of(given().vms[vm], result.usable);
  if (!numbers.joint_weight(vm)) {
    for (std::uint32_t c = numbers.first_claimant(vm); c < numbers.end_claimant(vm); ++c)
      result.vcpus.push_back(state_->solution.of(c));
    return result;
  }
  // Within the VM: even shares of the pCPU time that the VM has in this solution.
  problem inner;
  const problem& all = state_->solution.given();
  inner.capacity.assign(all.capacity.size(), 0);
  for (std::size_t p = 0; p < all.capacity.size(); ++p)
    for (const flow::entry& e : state_->solution.running().on(p))
      if (e.vcpu >= numbers.first_vcpu(vm) && e.vcpu < numbers.end_vcpu(vm)) inner.capacity[p] += e.amount;
  for (std::uint32_t i = numbers.first_vcpu(vm); i < numbers.end_vcpu(vm); ++i) {
    const auto number = static_cast<std::uint32_t>(inner.vcpus.size());
    inner.vcpus.push_back(all.vcpus[i]);
    inner.vcpus.back().claimant = number;
    inner.claimants.push_back({1, infinite, number, 1});
  }
  shares within(std::move(inner));
  within.solve();
  for (std::size_t c = 0; c < within.given().claimants.size(); ++c) result.vcpus.push_back(within.of(c));
  return result;
}

std::vector<running_part> estimator::running() const {
  std::vector<running_part> parts;
  const translation& numbers = state_->numbers;
  const problem& all = state_->solution.given();
  std::vector<std::pair<std::size_t, std::size_t>> owner;
  for (std::size_t j = 0; j < state_->host.vms.size(); ++j)
    for (std::uint32_t i = numbers.first_vcpu(j); i < numbers.end_vcpu(j); ++i)
      owner.emplace_back(j, i - numbers.first_vcpu(j));
  for (std::size_t p = 0; p < all.capacity.size(); ++p)
    for (const flow::entry& e : state_->solution.running().on(p))
      parts.push_back({owner[e.vcpu].first, owner[e.vcpu].second, p, e.amount});
  return parts;
}

void estimator::change(std::size_t vm, const host::vm& now) {
  state& s = *state_;
  if (now.vcpus.size() != s.host.vms[vm].vcpus.size())
    throw description_error("vms[" + std::to_string(vm) +
                            "].vcpus: their number has changed; make a new estimate");
  if (s.numbers.owner_of(vm, now) != (s.numbers.joint_weight(vm) ? weight_owner::vm : weight_owner::vcpu))
    throw description_error("vms[" + std::to_string(vm) + "].weight_of: has changed; make a new estimate");
  try {
    s.numbers.replace(s.solution.change(), vm, now);
  } catch (const description_error&) {
    s.numbers.replace(s.solution.change(), vm, s.host.vms[vm]);
    throw;
  }
  s.host.vms[vm] = now;
  std::vector<std::uint32_t> changed;
  for (std::uint32_t c = s.numbers.first_claimant(vm); c < s.numbers.end_claimant(vm); ++c)
    changed.push_back(c);
  s.solution.update(std::move(changed));
  s.verify();
}

void estimator::change_capacity(std::size_t pcpu, double capacity) {
  state& s = *state_;
  s.host.pcpus[pcpu].capacity = capacity;
  s.solution.change().capacity[pcpu] = capacity;
  s.solution.update({}, {static_cast<std::uint32_t>(pcpu)});
  s.verify();
}

double estimator::usable_with(std::size_t vm, std::size_t n) const {
  shares trial(state_->solution);
  return state_->usable_with(trial, vm, n);
}

vcpu_counts estimator::counts(std::size_t vm) const {
  const std::size_t all = state_->host.vms[vm].vcpus.size();
  shares trial(state_->solution);
  const double most = state_->usable_with(trial, vm, all);
  const double close = 1e-9 * std::max(1.0, most);
  vcpu_counts result;
  result.ceil = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(most - close)));
  const auto fits = [&](std::size_t n, double usable) {
    return usable >= static_cast<double>(n) - 0.5 - close;
  };
  std::size_t good = fits(all, most) ? all : 0, bad = all;
  while (good != all && bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (fits(middle, state_->usable_with(trial, vm, middle)) ? good : bad) = middle;
  }
  result.fit = std::max<std::size_t>(1, good);
  return result;
}

std::string estimator::defect() const { return find_defect(state_->solution); }

}  // namespace sukima::host
