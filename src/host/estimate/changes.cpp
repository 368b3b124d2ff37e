// SPDX-License-Identifier: Apache-2.0
// Solves again only the part that a change affects, and enforces the caps of VMs whose vCPUs have weights of
// their own.
#include <numeric>

#include "estimate/shares.hpp"

#include <base/shared/assert.hpp>

namespace sukima::host {
namespace {

/// Levels with a smaller relative difference count as equal.
constexpr double level_rounding = 1e-10;
/// A share may exceed a cap by this part of the cap, or of one CPU if that is more.
constexpr double cap_rounding = 1e-9;

}  // namespace

void shares::update(std::vector<std::uint32_t> claimants, const std::vector<std::uint32_t>& pcpus) {
  for (const std::size_t p : pcpus) all_.capacity[p] = given_.capacity[p];
  // Which bounds the caps have lowered depends on the whole solution. Reset these bounds, and let
  // enforce_caps lower them again.
  all_.caps = given_.caps;
  for (const joint_cap& cap : all_.caps)
    for (std::uint32_t c = cap.first; c < cap.first + cap.count; ++c)
      if (all_.vcpus[all_.claimants[c].first].most < given_.vcpus[all_.claimants[c].first].most)
        claimants.push_back(c);
  flags loose(all_.claimants.size(), 0), touched(groups_.size(), 0);
  bool have_moved = false;
  for (const std::uint32_t c : claimants) {
    all_.claimants[c] = given_.claimants[c];
    const claimant& holder = all_.claimants[c];
    for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i) {
      have_moved |= !(all_.vcpus[i].may == given_.vcpus[i].may);
      all_.vcpus[i] = given_.vcpus[i];
    }
    loose[c] = 1;
    touch(c, touched);
  }
  if (have_moved) flow_.learn_kinds();
  for (const std::size_t p : pcpus) touched[static_cast<std::size_t>(group_of_pcpu_[p])] = 1;
  solve_loose(loose, touched);
  enforce_caps();
  SUKIMA_ASSERT_VALID(*this);
}

void shares::touch(std::uint32_t claimant, flags& touched) const {
  const auto& holder = all_.claimants[claimant];
  if (home_[claimant] != nowhere) touched[static_cast<std::size_t>(home_[claimant])] = 1;
  for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i) {
    if (group_of_vcpu_[i] != nowhere) touched[static_cast<std::size_t>(group_of_vcpu_[i])] = 1;
    double top = 0;
    const auto group_at = [&](std::size_t p) { return static_cast<std::size_t>(group_of_pcpu_[p]); };
    all_.vcpus[i].may.each([&](std::size_t p) { top = std::max(top, groups_[group_at(p)].level); });
    all_.vcpus[i].may.each([&](std::size_t p) {
      if (groups_[group_at(p)].level >= top) touched[group_at(p)] = 1;
    });
  }
}

void shares::solve_loose(flags& loose, flags& touched) {
  cpu_set ever(all_.capacity.size());
  for (bool first = true;; first = false) {
    close_over_claimants(loose, touched);
    cpu_set next(all_.capacity.size());
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (touched[g] != 0) next |= groups_[g].cpus;
    // Each round solves the earlier parts again, so the set only grows. When it stops growing, nothing can
    // change any more: rounding can look like a violation if a share is almost zero.
    if (!first && next.within(ever)) return;
    ever |= next;
    solve_part(take_apart(loose, touched));
    loose.assign(loose.size(), 0);
    touched.assign(groups_.size(), 0);
    if (!touch_violations(touched)) return;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].cpus.meets(ever)) touched[g] = 1;
  }
}

void shares::close_over_claimants(flags& loose, flags& touched) const {
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t c = 0; c < loose.size(); ++c) {
      const claimant& holder = all_.claimants[c];
      const auto visit = [&](auto take) {
        if (home_[c] != nowhere) take(touched[static_cast<std::size_t>(home_[c])]);
        for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i)
          if (group_of_vcpu_[i] != nowhere) take(touched[static_cast<std::size_t>(group_of_vcpu_[i])]);
      };
      visit([&](char& flag) { loose[c] |= flag; });
      if (loose[c] == 0 || holder.count == 1) continue;
      visit([&](char& flag) {
        grown = grown || flag == 0;
        flag = 1;
      });
    }
  }
}

subproblem shares::take_apart(const flags& loose, const flags& touched) {
  subproblem part;
  part.cpus = cpu_set(all_.capacity.size());
  std::vector<std::int32_t> renumbered(groups_.size(), nowhere);
  std::size_t kept = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (touched[g] != 0) {
      part.cpus |= groups_[g].cpus;
      continue;
    }
    SUKIMA_ASSERT(kept <= g, "groups move only to the front");
    renumbered[g] = static_cast<std::int32_t>(kept);
    groups_[kept++] = groups_[g];
  }
  groups_.resize(kept);
  const auto renumber = [&](std::int32_t& g) {
    if (g != nowhere) g = renumbered[static_cast<std::size_t>(g)];
  };
  for (std::int32_t& g : group_of_pcpu_) renumber(g);
  for (std::size_t c = 0; c < loose.size(); ++c) {
    const claimant& holder = all_.claimants[c];
    if (loose[c] != 0) {
      got_[c] = 0;
      home_[c] = nowhere;
      part.elements.push_back({static_cast<std::uint32_t>(c), false, 0, 0,
                               static_cast<std::uint32_t>(part.vcpus.size()), holder.count});
    } else {
      renumber(home_[c]);
    }
    for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i) {
      if (loose[c] != 0) {
        part.vcpus.push_back(i);
        group_of_vcpu_[i] = nowhere;
      } else {
        renumber(group_of_vcpu_[i]);
      }
    }
  }
  return part;
}

bool shares::touch_violations(flags& touched) const {
  // For each group, the pCPUs of all groups with a higher level, collected from the highest level down.
  std::vector<std::size_t> order(groups_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater(), [&](std::size_t g) { return groups_[g].level; });
  std::vector<cpu_set> higher(groups_.size());
  cpu_set above(all_.capacity.size());
  std::size_t next = 0;
  for (const std::size_t g : order) {
    while (groups_[order[next]].level > groups_[g].level * (1 + level_rounding))
      above |= groups_[order[next++]].cpus;
    higher[g] = above;
  }
  const cpu_set none;
  bool found = false;
  const auto touch_both = [&](std::size_t g, std::size_t pcpu) {
    found = true;
    touched[g] = touched[static_cast<std::size_t>(group_of_pcpu_[pcpu])] = 1;
  };
  for (std::size_t i = 0; i < all_.vcpus.size(); ++i) {
    const runnable& one = all_.vcpus[i];
    if (one.most <= rounding) continue;
    if (group_of_vcpu_[i] != nowhere) {
      // Also check a vCPU that has all it wants: it could make room.
      const auto g = static_cast<std::size_t>(group_of_vcpu_[i]);
      one.may.each_of(higher[g], none, [&](std::size_t p) { touch_both(g, p); });
    } else if (home_[one.claimant] != nowhere) {
      const double level = level_of(one.claimant) * (1 + level_rounding);
      one.may.each_of(one.may, none, [&](std::size_t p) {
        if (groups_[static_cast<std::size_t>(group_of_pcpu_[p])].level > level)
          touch_both(static_cast<std::size_t>(home_[one.claimant]), p);
      });
    }
  }
  return found;
}

double shares::level_of(std::uint32_t claimant) const {
  const auto& holder = all_.claimants[claimant];
  double most = 0;
  for (std::uint32_t i = holder.first; i < holder.first + holder.count; ++i) most += all_.vcpus[i].most;
  const double home = groups_[static_cast<std::size_t>(home_[claimant])].level;
  const double all = std::min(holder.most, most);
  const bool satisfied = got_[claimant] >= all - rounding_of(all);
  return satisfied ? home : std::min(home, got_[claimant] / holder.weight);
}

// If a VM exceeds its cap, each of its vCPUs gets a bound such that their present shares fit the cap. The CPU
// that becomes free goes to others, so another VM may then exceed its cap, and so on. This ends: a vCPU below
// the bound of its VM is in a group with a lower level, which gains nothing from the vCPUs at the bound. So
// the VM with the lowest bound is final.
void shares::enforce_caps() {
  for (;;) {
    flags loose(all_.claimants.size(), 0);
    bool exceeded = false;
    for (const joint_cap& cap : all_.caps) exceeded = lower_bounds(cap, loose) || exceeded;
    if (!exceeded) return;
    flags touched(groups_.size(), 0);
    for (std::uint32_t c = 0; c < loose.size(); ++c)
      if (loose[c] != 0) touch(c, touched);
    solve_loose(loose, touched);
  }
}

bool shares::lower_bounds(const joint_cap& cap, flags& loose) {
  std::vector<double> got(got_.begin() + cap.first, got_.begin() + cap.first + cap.count);
  double sum = std::accumulate(got.begin(), got.end(), 0.0);
  if (sum <= cap.most + cap_rounding * std::max(1.0, cap.most)) return false;
  // Compute the bound: vCPUs with less keep their shares, and all others get the same share.
  std::ranges::sort(got);
  double left = cap.most, bound = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    bound = std::max(0.0, left) / static_cast<double>(got.size() - k);
    if (got[k] >= bound) break;
    left -= got[k];
  }
  bool lowered = false;
  for (std::uint32_t c = cap.first; c < cap.first + cap.count; ++c) {
    double& most = all_.vcpus[all_.claimants[c].first].most;
    if (most <= bound) continue;
    most = bound;
    loose[c] = 1;
    lowered = true;
  }
  // If every bound is low enough already, only rounding of the sum exceeds the cap.
  return lowered;
}

}  // namespace sukima::host
