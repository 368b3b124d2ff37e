// SPDX-License-Identifier: Apache-2.0
#include "order.hpp"

#include "eevdf.hpp"

#include <algorithm>

namespace sukima::simulation {

namespace {

/// The rank is the weighted time for which the vCPU has run.
class fair_order final : public order {
 public:
  using order::order;

  /// A vCPU that did not run for a long time stays behind the others by at most the credit.
  void begins(std::size_t vcpu) noexcept override {
    entries_[vcpu].rank =
        std::max(rank(vcpu), floor_ - static_cast<std::int64_t>(how_.sleeper_credit) * unit);
  }
  void before_choice(const std::vector<std::size_t>& contenders) noexcept override {
    if (contenders.empty()) return;
    std::int64_t least = rank(contenders.front());
    for (const std::size_t i : contenders) least = std::min(least, rank(i));
    floor_ = std::max(floor_, least);
  }
  std::uint64_t slice(std::size_t /*vcpu*/, std::optional<std::int64_t> /*next*/) const noexcept override {
    return how_.slice;
  }
  bool preempts(std::size_t woken, std::size_t /*running*/, std::int64_t its_rank,
                std::uint64_t /*ran*/) const noexcept override {
    return its_rank > rank(woken) + static_cast<std::int64_t>(how_.wake_granularity) * unit;
  }

 private:
  std::int64_t pace(unsigned weight) const noexcept override { return unit * 1024 / weight; }

  std::int64_t floor_ = 0;  ///< rank that all vCPUs that run or want to run have reached
};

/// The rank is the negative credit. Credit burns faster for smaller weights. When the vCPU that must run next
/// has no credit left, each vCPU gets a new portion, and keeps at most one.
class credit2_order final : public order {
 public:
  using order::order;

  void begins(std::size_t /*vcpu*/) noexcept override {}
  void before_choice(const std::vector<std::size_t>& contenders) noexcept override {
    if (contenders.empty()) return;
    std::int64_t most = rank(contenders.front());
    for (const std::size_t i : contenders) most = std::min(most, rank(i));
    if (most < 0) return;
    const std::int64_t portions = 1 + most / portion;
    for (entry& e : entries_) e.rank = std::max(e.rank - portions * portion, -portion);
  }
  /// A vCPU runs until its credit falls below that of the next vCPU.
  std::uint64_t slice(std::size_t vcpu, std::optional<std::int64_t> next) const noexcept override {
    const std::int64_t lead = next.value_or(0) - rank(vcpu);
    const std::uint64_t time = lead <= 0 ? 0 : static_cast<std::uint64_t>(lead / entries_[vcpu].pace);
    return std::clamp(time, std::max(how_.wake_granularity, least_slice), how_.slice);
  }
  /// Only after the running vCPU has had the CPU for the minimum time between switches.
  bool preempts(std::size_t woken, std::size_t /*running*/, std::int64_t its_rank,
                std::uint64_t ran) const noexcept override {
    return its_rank > rank(woken) && ran >= how_.wake_granularity;
  }

 private:
  static constexpr std::uint64_t least_slice = 500'000;
  static constexpr std::int64_t portion = 10'000'000 * unit;

  /// Relative to the largest weight, whose credit burns at the pace of the clock.
  std::int64_t pace(unsigned weight) const noexcept override {
    unsigned largest = weight;
    for (const entry& e : entries_) largest = std::max(largest, e.weight);
    return unit * largest / weight;
  }
  std::int64_t first_rank() const noexcept override { return -portion; }
};

}  // namespace

scheduling credit2_scheduling() noexcept {
  scheduling s;
  s.rule = scheduling_rule::credit2;
  s.slice = 10'000'000;
  s.period = 10'000'000;
  s.grant = 0;
  return s;
}

void order::add(unsigned weight, std::size_t queue) {
  entries_.push_back({weight, 0, first_rank(), queue});
  for (entry& e : entries_) e.pace = pace(e.weight);
}

std::unique_ptr<order> make_order(const scheduling& how) {
  if (how.rule == scheduling_rule::credit2) return std::make_unique<credit2_order>(how);
  if (how.rule == scheduling_rule::eevdf) return make_eevdf_order(how);
  return std::make_unique<fair_order>(how);
}

}  // namespace sukima::simulation
