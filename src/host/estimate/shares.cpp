// SPDX-License-Identifier: Apache-2.0
// Solves a problem by divide and conquer; see shares.hpp. Changes are in changes.cpp.
#include "estimate/shares.hpp"

#include <base/shared/assert.hpp>

namespace sukima::host {

shares::shares(problem given)
    : given_(std::move(given)),
      all_(given_),
      flow_(all_),
      got_(all_.claimants.size()),
      group_of_vcpu_(all_.vcpus.size()),
      group_of_pcpu_(all_.capacity.size()),
      home_(all_.claimants.size()) {}

shares::shares(const shares& other)
    : given_(other.given_),
      all_(other.all_),
      flow_(other.flow_, all_),
      got_(other.got_),
      groups_(other.groups_),
      group_of_vcpu_(other.group_of_vcpu_),
      group_of_pcpu_(other.group_of_pcpu_),
      home_(other.home_) {}

void shares::solve() {
  all_ = given_;
  flow_.learn_kinds();
  groups_.clear();
  std::ranges::fill(group_of_pcpu_, nowhere);
  flags loose(all_.claimants.size(), 1), touched;
  subproblem whole = take_apart(loose, touched);
  whole.cpus = cpu_set(all_.capacity.size());
  for (std::size_t p = 0; p < all_.capacity.size(); ++p) whole.cpus.add(p);
  solve_part(std::move(whole));
  enforce_caps();
  SUKIMA_ASSERT_VALID(*this);
}

const char* shares::violated_invariant() const {
  if (!waiting_.empty()) return "no part of a solution waits to be solved";
  cpu_set divided(all_.capacity.size());
  for (const group& one : groups_) {
    if (one.cpus.empty()) return "each group has a pCPU";
    if (one.cpus.meets(divided)) return "a pCPU is in one group only";
    divided |= one.cpus;
    if (!(one.level >= 0)) return "the level of a group is at least 0";
  }
  for (std::size_t p = 0; p < group_of_pcpu_.size(); ++p)
    if (!is_group(group_of_pcpu_[p]) || !groups_[static_cast<std::size_t>(group_of_pcpu_[p])].cpus.has(p))
      return "each pCPU is in the group that is stored for it";
  for (std::size_t i = 0; i < group_of_vcpu_.size(); ++i) {
    if (all_.vcpus[i].most > given_.vcpus[i].most) return "caps only lower the bounds of vCPUs";
    const std::int32_t g = group_of_vcpu_[i];
    if (g == nowhere) continue;
    if (!is_group(g) || !all_.vcpus[i].may.meets(groups_[static_cast<std::size_t>(g)].cpus))
      return "a vCPU runs in a group with a pCPU that it may use";
  }
  for (std::size_t c = 0; c < got_.size(); ++c) {
    if (home_[c] != nowhere && !is_group(home_[c])) return "the home of a claimant is a group";
    if (!(got_[c] >= 0)) return "no share is negative";
  }
  return flow_.violated_invariant();
}

void shares::solve_part(subproblem part) {
  waiting_.push_back(std::move(part));
  while (!waiting_.empty()) solve_next();
}

void shares::solve_next() {
  subproblem part = std::move(waiting_.back());
  waiting_.pop_back();
  if (part.cpus.empty()) return;
  flow_.clear(part.cpus);
  prune(part);
  // pCPUs that no vCPU may use form a group of their own, for later changes.
  if (part.elements.empty()) return add_group(part, infinite);
  double room = 0;
  part.cpus.each([&](std::size_t p) { room += all_.capacity[p]; });
  const double level = water_level(part, all_.claimants, room);
  flow_.spread(part, level);
  flow::cut cut;
  // If the cut reaches all pCPUs, that can only be rounding, because the level was chosen so that the sum of
  // the demands fits.
  if (flow_.push(part, cut) || part.cpus.within(cut.reached)) return settle(part, level);
  subproblem below, above;
  split(part, cut, below, above);
  part = {};
  waiting_.push_back(std::move(below));
  waiting_.push_back(std::move(above));
}

void shares::prune(subproblem& part) const {
  std::uint32_t end = 0, kept = 0;
  for (std::size_t j = 0; j < part.elements.size(); ++j) {
    element e = part.elements[j];
    const std::uint32_t first = end;
    e.reach = 0;
    for (std::uint32_t k = e.first; k < e.first + e.count; ++k) {
      const std::uint32_t i = part.vcpus[k];
      if (!all_.vcpus[i].may.meets(part.cpus)) continue;
      part.vcpus[end++] = i;
      e.reach += all_.vcpus[i].most;
    }
    e.first = first;
    e.count = end - first;
    if (e.count > 0) part.elements[kept++] = e;
  }
  part.elements.resize(kept);
  part.vcpus.resize(end);
}

void shares::add_group(const subproblem& part, double level) {
  const auto number = static_cast<std::int32_t>(groups_.size());
  groups_.push_back({level, part.cpus});
  part.cpus.each([&](std::size_t p) { group_of_pcpu_[p] = number; });
  for (const std::uint32_t i : part.vcpus) group_of_vcpu_[i] = number;
  for (const element& e : part.elements)
    if (!e.fixed) home_[e.claimant] = number;
}

void shares::settle(const subproblem& part, double level) {
  add_group(part, level);
  for (const element& e : part.elements)
    if (!e.fixed) got_[e.claimant] += demand_at(e, all_.claimants[e.claimant], level);
}

void shares::split(const subproblem& part, const flow::cut& by, subproblem& below, subproblem& above) {
  const auto add = [](subproblem& to, element e, const auto& vcpus) {
    e.first = static_cast<std::uint32_t>(to.vcpus.size());
    e.count = static_cast<std::uint32_t>(vcpus.size());
    to.vcpus.insert(to.vcpus.end(), vcpus.begin(), vcpus.end());
    to.elements.push_back(e);
  };
  below.cpus = part.cpus & by.reached;
  above.cpus = part.cpus.minus(by.reached);
  SUKIMA_ASSERT(!below.cpus.empty() && !above.cpus.empty(), "a cut divides the pCPUs, so that solving ends");
  std::vector<std::uint32_t> confined, outside;
  for (std::size_t j = 0; j < part.elements.size(); ++j) {
    const element& e = part.elements[j];
    confined.clear();
    outside.clear();
    double fixed = 0;
    for (const std::uint32_t i : part.of(e)) {
      const bool is_confined = !all_.vcpus[i].may.meets(above.cpus);
      (is_confined ? confined : outside).push_back(i);
      if (!is_confined) fixed += all_.vcpus[i].most;
    }
    if (by.low[j] == 0 && !outside.empty()) {
      // At this level the element gets its whole share through its other vCPUs. Its confined vCPUs get
      // nothing.
      add(above, e, part.of(e));
      continue;
    }
    element lower = e;
    if (!e.fixed) {
      lower.offset += fixed;
      got_[e.claimant] += fixed;
    }
    add(below, lower, confined);
    if (outside.empty()) continue;
    element upper = e;
    upper.fixed = true;
    add(above, upper, outside);
  }
}

}  // namespace sukima::host
