// SPDX-License-Identifier: Apache-2.0
// The quotas of the hypervisor: the grants of a guest's vCPUs, and the accounting as in Linux.
#include "hypervisor.hpp"

#include <algorithm>
#include <utility>

namespace sukima::simulation {

bool hypervisor::charge(pcpu_state& p) noexcept {
  bandwidth& limit = *guests_[vcpus_[p.on].guest].limit;
  limit.advance(p.clock);
  return limit.charge(number_of(p), p.clock - std::exchange(p.charged_until, p.clock));
}

std::uint64_t hypervisor::charged_next(const pcpu_state& p) const noexcept {
  const std::uint64_t used_up = p.clock + guests_[vcpus_[p.on].guest].limit->left(number_of(p));
  return (used_up + how_.tick - 1) / how_.tick * how_.tick;
}

bool hypervisor::take_grant(pcpu_state& p) {
  guest_state& g = guests_[vcpus_[p.on].guest];
  p.grant_end = forever;
  if (g.shape.quota == 0) return true;
  if (g.limit) {
    p.charged_until = p.clock;
    if (!charge(p)) return false;
    p.grant_end = charged_next(p);
    return true;
  }
  p.grant_period = p.clock / how_.period;
  std::uint64_t& taken = g.taken[p.grant_period];
  const std::uint64_t period_end = (p.grant_period + 1) * how_.period;
  const std::uint64_t grant =
      how_.grant != 0 ? how_.grant : std::max(g.shape.quota / g.shape.vcpus, std::uint64_t{500'000});
  const std::uint64_t length = std::min({grant, g.shape.quota - taken, period_end - p.clock});
  taken += length;
  p.grant_end = p.clock + length;
  return length != 0;
}

/// Returns the rest of the grant to the quota.
void hypervisor::return_grant(pcpu_state& p) {
  guest_state& g = guests_[vcpus_[p.on].guest];
  if (g.shape.quota == 0 || p.grant_end <= p.clock) return;
  g.taken[p.grant_period] -= p.grant_end - p.clock;
  g.returned_at = std::max(g.returned_at, p.clock);
}

std::uint64_t hypervisor::most_in_a_period(std::size_t number) const noexcept {
  std::uint64_t most = 0;
  for (const auto& [period, taken] : guests_[number].taken) most = std::max(most, taken);
  return most;
}

}  // namespace sukima::simulation
