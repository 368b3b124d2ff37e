// SPDX-License-Identifier: Apache-2.0
// The exact estimate of a description, its changes, and recommended numbers of vCPUs; see
// shared/estimate.hpp.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <base/shared/assert.hpp>

#include "estimate/certificate.hpp"
#include "estimate/translation.hpp"
#include "estimate/what_if.hpp"

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
  vm_range range_of(std::size_t vm) const {
    return {.claimant = numbers.first_claimant(vm),
            .end_claimant = numbers.end_claimant(vm),
            .vcpu = numbers.first_vcpu(vm),
            .end_vcpu = numbers.end_vcpu(vm),
            .joint_weight = numbers.joint_weight(vm)};
  }
  /// The bounds of a VM's vCPUs. \param is_online  says for the position of a vCPU whether it is online
  template <class Online>
  std::vector<double> bounds(std::size_t vm, bool with_demand, Online is_online) const {
    std::vector<double> result;
    for (std::size_t i = 0; i < host.vms[vm].vcpus.size(); ++i) {
      const vcpu& one = host.vms[vm].vcpus[i];
      const double most = with_demand ? bound_of(one) : std::min(1.0, one.cap.value_or(1));
      result.push_back(is_online(i) ? most : 0);
    }
    return result;
  }
  /// The usable CPUs if the VM's first n vCPUs are online and its others are not.
  double usable_with(std::size_t vm, std::size_t n, bool with_demand) {
    return others().usable(range_of(vm), bounds_with(vm, n, with_demand));
  }
  std::vector<double> bounds_with(std::size_t vm, std::size_t n, bool with_demand) const {
    return bounds(vm, with_demand, [n](std::size_t i) { return i < n; });
  }
  /// \param most  the usable CPUs with all vCPUs online
  vcpu_counts counts(std::size_t vm, double most, bool with_demand);
  what_if& others() {
    if (!asked) asked.emplace(solution);
    return *asked;
  }
  /// Discards earlier answers because the solution changes.
  void forget() {
    if (asked) solved += asked->solved();
    asked.reset();
    potentials.clear();
  }

  description host;
  translation numbers;
  shares solution;
  std::optional<what_if> asked;
  std::vector<std::optional<vm_potential>> potentials;  ///< of this solution; empty if not computed yet
  std::size_t solved = 0;  ///< the number of solutions of earlier what_if objects
};

vcpu_counts estimator::state::counts(std::size_t vm, double most, bool with_demand) {
  const double close = 1e-9 * std::max(1.0, most);
  const auto fits = [&](std::size_t n, double usable) {
    return usable >= static_cast<double>(n) - 0.5 - close;
  };
  const std::size_t all = host.vms[vm].vcpus.size();
  vcpu_counts result;
  result.ceil = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(most - close)));
  // Fewer vCPUs cannot use more than all of them, so no count above this one fits.
  std::size_t good = fits(all, most) ? all : 0;
  std::size_t bad = good == all ? all : std::min(all, static_cast<std::size_t>(most + 0.5 + close) + 1);
  const bool is_uniform = others().is_uniform(range_of(vm));
  const auto usable_by = [&](std::size_t n) {
    if (!is_uniform) return usable_with(vm, n, with_demand);
    const std::vector<double> those = bounds_with(vm, n, with_demand);
    return std::min(most, std::accumulate(those.begin(), those.end(), 0.0));
  };
  const auto look_at = [&](std::size_t n) { (fits(n, usable_by(n)) ? good : bad) = n; };
  if (good != all && bad > 1) look_at(bad - 1);  // try this first: it fits most often
  while (good != all && bad - good > 1) look_at(good + (bad - good) / 2);
  SUKIMA_ASSERT(good <= bad && bad <= all, "the search for a fitting number narrows");
  result.fit = std::max<std::size_t>(1, good);
  return result;
}

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
  // Divide evenly among the VM's vCPUs the pCPU time that the VM has in this solution.
  problem inner;
  const problem& all = state_->solution.given();
  inner.capacity.assign(all.capacity.size(), 0);
  cpu_set reach(all.capacity.size());
  for (std::uint32_t i = numbers.first_vcpu(vm); i < numbers.end_vcpu(vm); ++i) reach |= all.vcpus[i].may;
  reach.each([&](std::size_t p) {
    for (const flow::entry& e : state_->solution.running().on(p))
      if (e.vcpu >= numbers.first_vcpu(vm) && e.vcpu < numbers.end_vcpu(vm)) inner.capacity[p] += e.amount;
  });
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
  s.forget();
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

void estimator::change(const std::vector<vm_wishes>& now) {
  state& s = *state_;
  std::vector<std::uint32_t> changed;
  bool is_other = false;
  for (const vm_wishes& one : now) {
    bool has_other_bound = false;
    for (std::size_t i = 0; i < one.vcpus.size(); ++i) {
      vcpu& each = s.host.vms[one.vm].vcpus[i];
      const vcpu_wish& wish = one.vcpus[i];
      if (each.online == wish.online && each.demand == wish.demand) continue;
      is_other = true;
      each.online = wish.online;
      each.demand = wish.demand;
      const double most = each.online ? bound_of(each) : 0;
      double& bound = s.solution.change().vcpus[s.numbers.first_vcpu(one.vm) + i].most;
      has_other_bound = std::exchange(bound, most) != most || has_other_bound;
    }
    if (!has_other_bound) continue;
    for (std::uint32_t c = s.numbers.first_claimant(one.vm); c < s.numbers.end_claimant(one.vm); ++c)
      changed.push_back(c);
  }
  // Answers about an unchanged solution stay right. So a cycle in which no machine changes its wishes costs
  // nothing.
  if (!is_other) return;
  s.forget();
  if (!changed.empty()) s.solution.update(std::move(changed));
  s.verify();
}

void estimator::change_capacity(std::size_t pcpu, double capacity) {
  state& s = *state_;
  s.forget();
  s.host.pcpus[pcpu].capacity = capacity;
  s.solution.change().capacity[pcpu] = capacity;
  s.solution.update({}, {static_cast<std::uint32_t>(pcpu)});
  s.verify();
}

double estimator::usable_with(std::size_t vm, std::size_t n) const {
  return state_->usable_with(vm, n, true);
}

vcpu_counts estimator::counts(std::size_t vm) const {
  const std::size_t all = state_->host.vms[vm].vcpus.size();
  return state_->counts(vm, state_->usable_with(vm, all, true), true);
}

vm_potential estimator::potential(std::size_t vm) const {
  state& s = *state_;
  s.potentials.resize(s.host.vms.size());
  if (s.potentials[vm]) return *s.potentials[vm];
  const std::vector<vcpu>& vcpus = s.host.vms[vm].vcpus;
  const auto online = s.bounds(vm, false, [&](std::size_t i) { return vcpus[i].online; });
  vm_potential result;
  result.usable = s.others().usable(s.range_of(vm), online);
  const bool are_all_online = std::ranges::all_of(vcpus, &vcpu::online);
  result.usable_by_all = are_all_online ? result.usable : s.usable_with(vm, vcpus.size(), false);
  result.counts = s.counts(vm, result.usable_by_all, false);
  s.potentials[vm] = result;
  return result;
}

std::size_t estimator::solved_again() const {
  return state_->solved + (state_->asked ? state_->asked->solved() : 0);
}

std::string estimator::defect() const { return find_defect(state_->solution); }

}  // namespace sukima::host
