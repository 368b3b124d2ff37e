// SPDX-License-Identifier: Apache-2.0
// The partition of paper 001; see partition.hpp.
#include "estimate/partition.hpp"

#include <base/shared/assert.hpp>

namespace sukima::host {
namespace {

/// A set of vCPUs.
class vcpu_set {
 public:
  explicit vcpu_set(std::size_t size = 0) : bits_((size + 63) / 64) {}
  void add(std::size_t i) { bits_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool has(std::size_t i) const { return (bits_[i / 64] >> (i % 64) & 1) != 0; }
  std::size_t count() const {
    std::size_t n = 0;
    for (const std::uint64_t word : bits_) n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }
  bool meets(const vcpu_set& other) const {
    for (std::size_t k = 0; k < bits_.size(); ++k)
      if ((bits_[k] & other.bits_[k]) != 0) return true;
    return false;
  }
  std::size_t count_with(const vcpu_set& other) const {
    std::size_t n = 0;
    for (std::size_t k = 0; k < bits_.size(); ++k)
      n += static_cast<std::size_t>(std::popcount(bits_[k] | other.bits_[k]));
    return n;
  }
  void unite(const vcpu_set& other) {
    for (std::size_t k = 0; k < bits_.size(); ++k) bits_[k] |= other.bits_[k];
  }
  void subtract(const vcpu_set& other) {
    for (std::size_t k = 0; k < bits_.size(); ++k) bits_[k] &= ~other.bits_[k];
  }

 private:
  std::vector<std::uint64_t> bits_;
};

struct group {
  double room = 0;
  vcpu_set vcpus;
  /// The pCPUs per vCPU.
  double ratio() const {
    const std::size_t n = vcpus.count();
    return n == 0 ? infinite : room / static_cast<double>(n);
  }
};

class partition {
 public:
  explicit partition(const problem& given) : given_(given), group_of_pcpu_(given.capacity.size()) {
    for (std::size_t p = 0; p < given.capacity.size(); ++p) near_.emplace_back(given.vcpus.size());
    for (std::size_t i = 0; i < given.vcpus.size(); ++i)
      if (given.vcpus[i].most > 0) given.vcpus[i].may.each([&](std::size_t p) { near_[p].add(i); });
  }

  std::vector<double> shares() {
    for (std::size_t p = 0; p < near_.size(); ++p) free_.push_back(p);
    while (!free_.empty()) cut_off(next([](std::size_t) { return true; }));
    merge();
    return distribute();
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  /// The free pCPU with the fewest vCPUs among those that satisfy `suits`; the first one if there are
  /// several.
  template <class Suits>
  std::size_t next(Suits suits) const {
    std::size_t best = none, fewest = SIZE_MAX;
    for (const std::size_t p : free_) {
      if (near_[p].count() >= fewest || !suits(p)) continue;
      fewest = near_[p].count();
      best = p;
    }
    return best;
  }

  /// Grows a group from a pCPU, and separates its vCPUs from the remaining pCPUs.
  void cut_off(std::size_t first) {
    SUKIMA_ASSERT(first != none, "while pCPUs are free, one of them has the fewest vCPUs");
    group grown{0, near_[first]};
    for (std::size_t p = first; p != none;) {
      std::erase(free_, p);
      group_of_pcpu_[p] = groups_.size();
      grown.room += given_.capacity[p];
      grown.vcpus.unite(near_[p]);
      p = next([&](std::size_t q) { return near_[q].meets(grown.vcpus); });
      if (p == none) break;
      const double larger = grown.room + given_.capacity[p];
      if (larger / static_cast<double>(grown.vcpus.count_with(near_[p])) < grown.ratio() * (1 - 1e-12)) break;
    }
    for (const std::size_t p : free_) near_[p].subtract(grown.vcpus);
    groups_.push_back(std::move(grown));
  }

  std::size_t group_with(std::size_t vcpu) const {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].vcpus.has(vcpu)) return g;
    return none;
  }

  /// Merges groups that are connected by cut edges: the group of the vCPU takes over the group of the pCPU if
  /// that has at least as many pCPUs per vCPU.
  void merge() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < given_.vcpus.size(); ++i) {
        std::size_t one = group_with(i);
        if (one == none) continue;
        given_.vcpus[i].may.each([&](std::size_t p) {
          const std::size_t two = group_of_pcpu_[p];
          if (one == two || groups_[two].ratio() < groups_[one].ratio()) return;
          groups_[one].room += groups_[two].room;
          groups_[one].vcpus.unite(groups_[two].vcpus);
          groups_[two] = {0, vcpu_set(given_.vcpus.size())};
          for (std::size_t& g : group_of_pcpu_)
            if (g == two) g = one;
          changed = true;
        });
      }
    }
  }

  std::vector<double> distribute() const {
    std::vector<double> result(given_.vcpus.size()), weights(groups_.size()), weight(result.size());
    std::vector<double> members(given_.claimants.size());
    for (const runnable& one : given_.vcpus) members[one.claimant] += one.most > 0 ? 1 : 0;
    std::vector<std::size_t> at(result.size(), none);
    for (std::size_t i = 0; i < result.size(); ++i) {
      at[i] = group_with(i);
      if (at[i] == none) continue;
      const std::uint32_t c = given_.vcpus[i].claimant;
      weight[i] = given_.claimants[c].weight / members[c];
      weights[at[i]] += weight[i];
    }
    for (std::size_t i = 0; i < result.size(); ++i)
      if (at[i] != none)
        result[i] = std::min(given_.vcpus[i].most, groups_[at[i]].room * weight[i] / weights[at[i]]);
    return result;
  }

  const problem& given_;
  std::vector<vcpu_set> near_;
  std::vector<std::size_t> free_, group_of_pcpu_;
  std::vector<group> groups_;
};

}  // namespace

std::vector<double> partition_shares(const problem& given) { return partition(given).shares(); }

}  // namespace sukima::host
