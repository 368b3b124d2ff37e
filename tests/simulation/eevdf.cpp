// SPDX-License-Identifier: Apache-2.0
#include "eevdf.hpp"

#include <algorithm>

namespace sukima::simulation {

namespace {

class eevdf_order final : public order {
 public:
  using order::order;

  /// A vCPU that wakes keeps its lag, unless it is still in its queue.
  void wakes(std::size_t vcpu) noexcept override {
    more_.resize(entries_.size());
    state& its = more_[vcpu];
    const std::int64_t mean = mean_of(entries_[vcpu].queue);
    if (its.delayed) {
      its.delayed = false;
      if (rank(vcpu) >= mean) return;
      its.queued = false;
      its.lag = 0;
    }
    enter(vcpu, mean);
  }
  /// A vCPU that is ahead of the mean stays in its queue.
  void halts(std::size_t vcpu) noexcept override {
    state& its = more_[vcpu];
    renew(vcpu);
    const std::int64_t mean = mean_of(entries_[vcpu].queue);
    if (rank(vcpu) > mean) {
      its.delayed = true;
      return;
    }
    leave(vcpu, mean);
  }
  void begins(std::size_t vcpu) noexcept override { renew(vcpu); }
  /// vCPUs that are not eligible come after all others.
  std::int64_t place(std::size_t vcpu) const noexcept override {
    const std::int64_t deadline = deadline_of(vcpu);
    return rank(vcpu) <= mean_of(entries_[vcpu].queue) ? deadline : deadline + far;
  }
  /// Sleeping vCPUs leave their queue as soon as they are eligible.
  void before_choice(const std::vector<std::size_t>& /*contenders*/) noexcept override {
    for (std::size_t i = 0; i < more_.size(); ++i) {
      if (!more_[i].delayed) continue;
      const std::int64_t mean = mean_of(entries_[i].queue);
      if (rank(i) > mean) continue;
      leave(i, rank(i));
    }
  }
  /// A vCPU runs until its deadline.
  std::uint64_t slice(std::size_t vcpu, std::optional<std::int64_t> /*next*/) const noexcept override {
    return 1 + static_cast<std::uint64_t>((more_[vcpu].deadline - rank(vcpu)) / entries_[vcpu].pace);
  }
  /// The woken vCPU needs the earlier deadline, unless the running one is past its own deadline.
  bool preempts(std::size_t woken, std::size_t running, std::int64_t its_rank,
                std::uint64_t /*ran*/) const noexcept override {
    const state& its = more_[running];
    if (its_rank >= its.deadline) return true;
    return rank(woken) <= mean_of(entries_[woken].queue) && more_[woken].deadline < its.deadline;
  }

 private:
  static constexpr std::int64_t far = std::int64_t{1} << 60;
  struct state {
    bool queued = false;  ///< the vCPU runs, waits, or sleeps delayed
    bool delayed = false;
    std::int64_t lag = 0;  ///< of a vCPU that sleeps
    std::int64_t deadline = 0;
  };

  std::int64_t pace(unsigned weight) const noexcept override { return unit * 1024 / weight; }
  std::int64_t slice_of(std::size_t vcpu) const noexcept {
    return static_cast<std::int64_t>(how_.slice) * entries_[vcpu].pace;
  }
  std::int64_t deadline_of(std::size_t vcpu) const noexcept {
    return rank(vcpu) >= more_[vcpu].deadline ? rank(vcpu) + slice_of(vcpu) : more_[vcpu].deadline;
  }
  void renew(std::size_t vcpu) noexcept { more_[vcpu].deadline = deadline_of(vcpu); }
  /// The lag is limited to two slices or a tick.
  void leave(std::size_t vcpu, std::int64_t mean) noexcept {
    const std::int64_t most =
        static_cast<std::int64_t>(std::max(2 * how_.slice, how_.tick)) * entries_[vcpu].pace;
    state& its = more_[vcpu];
    its.lag = std::clamp(mean - rank(vcpu), -most, most);
    its.queued = its.delayed = false;
    left_at_ = std::max(left_at_, mean);
  }
  void enter(std::size_t vcpu, std::int64_t mean) noexcept {
    state& its = more_[vcpu];
    const std::int64_t others = weight_of(entries_[vcpu].queue);
    const std::int64_t own = entries_[vcpu].weight;
    entries_[vcpu].rank = mean - (others == 0 ? 0 : its.lag * (others + own) / others);
    its.deadline = rank(vcpu) + slice_of(vcpu);
    its.queued = true;
  }
  std::int64_t weight_of(std::size_t queue) const noexcept {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < more_.size(); ++i)
      if (more_[i].queued && entries_[i].queue == queue) sum += entries_[i].weight;
    return sum;
  }
  std::int64_t mean_of(std::size_t queue) const noexcept {
    const std::int64_t all = weight_of(queue);
    if (all == 0) return left_at_;
    std::int64_t base = 0;
    std::int64_t sum = 0;
    bool is_first = true;
    for (std::size_t i = 0; i < more_.size(); ++i) {
      if (!more_[i].queued || entries_[i].queue != queue) continue;
      if (is_first) base = rank(i);
      is_first = false;
      sum += (rank(i) - base) / 1024 * entries_[i].weight;
    }
    return base + sum / all * 1024;
  }

  std::vector<state> more_;  ///< by vCPU
  std::int64_t left_at_ = 0;  ///< the mean of an empty queue
};

}  // namespace

std::unique_ptr<order> make_eevdf_order(const scheduling& how) { return std::make_unique<eevdf_order>(how); }

}  // namespace sukima::simulation
