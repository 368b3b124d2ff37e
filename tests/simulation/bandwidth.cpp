// SPDX-License-Identifier: Apache-2.0
#include "bandwidth.hpp"

#include <algorithm>

namespace sukima::simulation {

namespace {

/// Time that stays in the pool of a pCPU on which no vCPU of the guest wants to run.
constexpr std::int64_t kept_when_idle = 1'000'000;

}  // namespace

bandwidth::bandwidth(const bandwidth_shape& shape, std::size_t pcpus)
    : shape_(shape),
      unassigned_(static_cast<std::int64_t>(shape.quota)),
      next_period_(shape.phase % shape.period),
      pools_(pcpus) {
  if (next_period_ == 0) next_period_ = shape.period;
}

void bandwidth::fill(pool& p, std::int64_t level) noexcept {
  const std::int64_t amount = std::min(unassigned_, level - p.left);
  unassigned_ -= amount;
  p.left += amount;
}

void bandwidth::advance(std::uint64_t at) noexcept {
  for (; next_period_ <= at; next_period_ += shape_.period) {
    unassigned_ = static_cast<std::int64_t>(shape_.quota);
    // With one nanosecond a pCPU may run until the scheduler checks again.
    std::erase_if(throttled_, [&](std::size_t pcpu) {
      pool& p = pools_[pcpu];
      fill(p, 1);
      p.throttled = p.left <= 0;
      p.usable_from = next_period_;
      return !p.throttled;
    });
  }
}

bool bandwidth::charge(std::size_t pcpu, std::uint64_t used) noexcept {
  pool& p = pools_[pcpu];
  p.left -= static_cast<std::int64_t>(used);
  if (p.throttled) return false;
  if (p.left <= 0) fill(p, static_cast<std::int64_t>(shape_.slice));
  if (p.left > 0) return true;
  p.throttled = true;
  throttled_.push_back(pcpu);
  return false;
}

void bandwidth::goes_idle(std::size_t pcpu) noexcept {
  pool& p = pools_[pcpu];
  if (p.left <= kept_when_idle) return;
  unassigned_ += p.left - kept_when_idle;
  p.left = kept_when_idle;
}

}  // namespace sukima::simulation
