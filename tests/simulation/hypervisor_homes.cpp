// SPDX-License-Identifier: Apache-2.0
// The topology of the pCPUs in the hypervisor: the homes of vCPUs, and modules that share a part.
#include "hypervisor.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace sukima::simulation {

void hypervisor::add_homes(std::size_t number) {
  const guest_shape& shape = guests_[number].shape;
  const std::size_t first = guests_[number].first_vcpu;
  pcpu_set allowed = shape.allowed;
  if (allowed.empty()) {
    allowed.resize(pcpus_.size());
    for (std::size_t i = 0; i != allowed.size(); ++i) allowed[i] = may_run_on(vcpus_[first], i);
  }
  assert(allowed.size() == pcpus_.size());
  homes_->add(shape.vcpus, allowed, shape.preferred);
  for (std::size_t v = first; v != vcpus_.size(); ++v) set_home(v, homes_->home(v));
}

void hypervisor::set_home(std::size_t number, std::size_t pcpu) noexcept {
  homes_->move(number, pcpu);
  vcpus_[number].first_pcpu = pcpu;
  vcpus_[number].pcpus = 1;
}

pcpu_set hypervisor::idle_pcpus(std::size_t but_for) const {
  pcpu_set idle(pcpus_.size());
  for (std::size_t i = 0; i != idle.size(); ++i) idle[i] = pcpus_[i].on == nowhere;
  for (const std::size_t waiting : queue_)
    if (waiting != but_for) idle[homes_->home(waiting)] = false;
  return idle;
}

void hypervisor::look_around(std::size_t number, pcpu_state& p) {
  const std::uint64_t period = p.clock / how_.look_around;
  if (period == std::exchange(p.looked_in, period)) return;
  set_home(number, homes_->best(number, idle_pcpus(number)));
}

/// vCPUs that prefer this pCPU come first, as in the load balancing of Xen's credit scheduler.
void hypervisor::take_over(const pcpu_state& p) {
  const std::size_t here = number_of(p);
  if (std::ranges::any_of(queue_, [&](std::size_t i) { return homes_->home(i) == here; })) return;
  for (const bool prefers : {true, false}) {
    std::size_t best = nowhere;
    for (const std::size_t i : queue_)
      if (pcpus_[homes_->home(i)].on != nowhere && homes_->may_take(here, i, prefers) &&
          runnable_at(vcpus_[i], here, p.clock) <= p.clock &&
          (best == nowhere || order_->place(i) < order_->place(best)))
        best = i;
    if (best != nowhere) return set_home(best, here);
  }
}

void hypervisor::update_speeds(const pcpu_state& changed) noexcept {
  if (how_.cpus.module == 1) return;
  const std::size_t first = number_of(changed) / how_.cpus.module * how_.cpus.module;
  const std::size_t end = std::min(first + how_.cpus.module, pcpus_.size());
  std::size_t busy = 0;
  for (std::size_t i = first; i != end; ++i) busy += pcpus_[i].on != nowhere ? 1 : 0;
  for (std::size_t i = first; i != end; ++i) {
    pcpu_state& p = pcpus_[i];
    const bool is_slowed = p.on != nowhere && busy > 1;
    if (p.is_slowed == is_slowed) continue;
    // Accounts the time at the previous speed. A vCPU that runs ahead keeps that speed a little longer.
    if (p.on != nowhere && p.clock < changed.clock) account(p, changed.clock);
    p.is_slowed = is_slowed;
  }
}

}  // namespace sukima::simulation
