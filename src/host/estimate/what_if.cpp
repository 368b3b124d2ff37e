// SPDX-License-Identifier: Apache-2.0
// Computes what one VM would get with other bounds; see what_if.hpp.
#include "estimate/what_if.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <base/shared/assert.hpp>

namespace sukima::host {
namespace {

double demand_at(double most, double weight, double level) { return std::min(most, level * weight); }

bool same(const cpu_set& a, const cpu_set& b) { return a.within(b) && b.within(a); }

}  // namespace

what_if::what_if(const shares& solution) : solution_(solution), has_cap_(solution.given().claimants.size()) {
  for (const joint_cap& cap : solution.given().caps)
    if (cap.most != infinite) std::fill_n(has_cap_.begin() + cap.first, cap.count, 1);
}

double what_if::usable(const vm_range& vm, std::span<const double> most) {
  SUKIMA_ASSERT(most.size() == vm.end_vcpu - vm.vcpu, "a question names a bound for each vCPU of the VM");
  if (const auto found = by_present(vm, most)) return *found;
  if (const auto found = by_bound(vm, most)) return *found;
  if (const auto found = by_groups(vm, most)) return *found;
  return by_copy(vm, most);
}

what_if::member what_if::member_of(std::uint32_t claimant) const {
  const problem& all = solution_.given();
  const host::claimant& holder = all.claimants[claimant];
  double sum = 0;
  for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i) sum += all.vcpus[i].most;
  const double most = std::min(holder.most, sum);
  return {most / holder.weight, most, holder.weight};
}

what_if::member what_if::member_of(const vm_range& vm, std::uint32_t claimant,
                                   std::span<const double> most) const {
  const host::claimant& holder = solution_.given().claimants[claimant];
  double sum = 0;
  for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i) sum += most[i - vm.vcpu];
  const double all = std::min(holder.most, sum);
  return {all / holder.weight, all, holder.weight};
}

bool what_if::is_uniform(const vm_range& vm) const {
  // If the VM has a cap and its vCPUs have weights of their own, the cap is not a bound of the claimant.
  if (vm.end_claimant - vm.claimant != 1 || has_cap_[vm.claimant] != 0) return false;
  const problem& all = solution_.given();
  for (std::uint32_t i = vm.vcpu + 1; i < vm.end_vcpu; ++i)
    if (!same(all.vcpus[i].may, all.vcpus[vm.vcpu].may)) return false;
  return true;
}

/// With its present bounds, a VM gets its present share.
std::optional<double> what_if::by_present(const vm_range& vm, std::span<const double> most) const {
  for (std::uint32_t i = vm.vcpu; i < vm.end_vcpu; ++i)
    if (solution_.given().vcpus[i].most != most[i - vm.vcpu]) return std::nullopt;
  double sum = 0;
  for (std::uint32_t c = vm.claimant; c < vm.end_claimant; ++c) sum += solution_.of(c);
  return sum;
}

/// A uniform VM keeps its present share unless its own bound limits it.
std::optional<double> what_if::by_bound(const vm_range& vm, std::span<const double> most) const {
  if (!is_uniform(vm)) return std::nullopt;
  const double before = member_of(vm.claimant).most, after = member_of(vm, vm.claimant, most).most;
  const double got = solution_.of(vm.claimant);
  if (after <= got) return after;
  if (got < before - rounding_of(before) || after <= before) return got;
  return std::nullopt;
}

void what_if::look_for_groups() {
  if (std::exchange(has_groups_, true)) return;
  groups_.resize(solution_.group_count());
  const problem& all = solution_.given();
  for (std::size_t g = 0; g < groups_.size(); ++g)
    solution_.cpus_of(g).each([&](std::size_t p) { groups_[g].room += all.capacity[p]; });
  mark_uneven();
  add_members();
}

void what_if::mark_uneven() {
  const problem& all = solution_.given();
  const auto mark = [&](std::int32_t g) {
    if (g >= 0) groups_[static_cast<std::size_t>(g)].even = false;
  };
  for (std::uint32_t c = 0; c < all.claimants.size(); ++c) {
    const host::claimant& holder = all.claimants[c];
    const std::int32_t home = solution_.home_of(c);
    bool even = home >= 0 && holder.weight != least_weight && has_cap_[c] == 0;
    for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i) {
      const std::int32_t runs_in = solution_.group_of_vcpu(i);
      even = even && (runs_in < 0 || runs_in == home) &&
             same(all.vcpus[i].may, solution_.cpus_of(static_cast<std::size_t>(home)));
    }
    if (even) continue;
    mark(home);
    for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i)
      mark(solution_.group_of_vcpu(i));
  }
}

void what_if::add_members() {
  for (std::uint32_t c = 0; c < solution_.given().claimants.size(); ++c) {
    const std::int32_t home = solution_.home_of(c);
    if (home < 0 || !groups_[static_cast<std::size_t>(home)].even) continue;
    groups_[static_cast<std::size_t>(home)].members.push_back(member_of(c));
  }
  for (even_group& group : groups_) {
    std::ranges::sort(group.members, {}, &member::bend);
    const std::size_t count = group.members.size();
    group.most_before.assign(count + 1, 0);
    group.weight_from.assign(count + 1, 0);
    for (std::size_t k = 0; k < count; ++k)
      group.most_before[k + 1] = group.most_before[k] + group.members[k].most;
    for (std::size_t k = count; k-- > 0;)
      group.weight_from[k] = group.weight_from[k + 1] + group.members[k].weight;
  }
}

std::optional<double> what_if::by_groups(const vm_range& vm, std::span<const double> most) {
  look_for_groups();
  std::map<std::int32_t, std::vector<replaced>> own;
  for (std::uint32_t c = vm.claimant; c < vm.end_claimant; ++c) {
    const std::int32_t home = solution_.home_of(c);
    if (home < 0 || !groups_[static_cast<std::size_t>(home)].even) return std::nullopt;
    own[home].push_back({member_of(c), member_of(vm, c, most)});
  }
  double sum = 0;
  for (const auto& [home, all] : own) sum += share_in(groups_[static_cast<std::size_t>(home)], all);
  return sum;
}

double what_if::share_in(const even_group& group, const std::vector<replaced>& own) {
  const double level = level_in(group, own);
  double sum = 0;
  for (const replaced& one : own) sum += demand_at(one.after.most, one.after.weight, level);
  return sum;
}

/// The level at which the demands of the group add up to its room, with the VM's own demands replaced by the
/// new ones.
double what_if::level_in(const even_group& group, const std::vector<replaced>& own) {
  const auto demand = [&](double level) {
    const auto after = std::ranges::upper_bound(group.members, level, {}, &member::bend);
    const auto k = static_cast<std::size_t>(after - group.members.begin());
    double sum = group.most_before[k] + level * group.weight_from[k];
    for (const replaced& one : own)
      sum += demand_at(one.after.most, one.after.weight, level) -
             demand_at(one.before.most, one.before.weight, level);
    return sum;
  };
  // Between two bends the sum of the demands is linear, so find the two bends around the room.
  const auto below_room = [&](double bend) { return demand(bend) < group.room; };
  std::vector<double> bends;
  for (const replaced& one : own) bends.push_back(one.after.bend);
  std::ranges::sort(bends);
  const auto first = std::ranges::partition_point(group.members, below_room, &member::bend);
  const auto own_first = std::ranges::partition_point(bends, below_room);
  double low = 0, high = infinite;
  if (first != group.members.begin()) low = std::max(low, std::prev(first)->bend);
  if (own_first != bends.begin()) low = std::max(low, *std::prev(own_first));
  if (first != group.members.end()) high = std::min(high, first->bend);
  if (own_first != bends.end()) high = std::min(high, *own_first);
  if (high == infinite) return infinite;  // all demands fit
  const double at_low = demand(low), at_high = demand(high);
  if (at_high <= at_low) return high;
  return low + (high - low) * (group.room - at_low) / (at_high - at_low);
}

void what_if::put_back(std::vector<std::uint32_t>& changed) {
  if (!changed_) return;
  for (std::uint32_t i = changed_->vcpu; i < changed_->end_vcpu; ++i)
    copy_->change().vcpus[i].most = solution_.given().vcpus[i].most;
  for (std::uint32_t c = changed_->claimant; c < changed_->end_claimant; ++c) changed.push_back(c);
  changed_.reset();
}

double what_if::by_copy(const vm_range& vm, std::span<const double> most) {
  ++solved_;
  if (!copy_) copy_.emplace(solution_);
  std::vector<std::uint32_t> changed;
  if (changed_ && changed_->claimant != vm.claimant) put_back(changed);
  for (std::uint32_t i = vm.vcpu; i < vm.end_vcpu; ++i) {
    runnable& one = copy_->change().vcpus[i];
    if (one.most == most[i - vm.vcpu]) continue;
    one.most = most[i - vm.vcpu];
    if (changed.empty() || changed.back() != one.claimant) changed.push_back(one.claimant);
  }
  changed_ = vm;
  if (!changed.empty()) copy_->update(std::move(changed));
  double sum = 0;
  for (std::uint32_t c = vm.claimant; c < vm.end_claimant; ++c) sum += copy_->of(c);
  return sum;
}

}  // namespace sukima::host
