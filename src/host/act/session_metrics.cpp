// SPDX-License-Identifier: Apache-2.0
// The metrics that a session publishes about itself.
#include "act/session_member.hpp"
#include "shared/steering.hpp"

namespace sukima::host {

void session_member::add_to(vm_metrics& into) const {
  into.name = name();
  for (const vcpu_wish& one : wants()) ++(one.online ? into.online : into.offline);
  if (ended_) return;
  into.usable = usable();
  if (!times_) return;
  double demand = 0;
  for (const std::optional<double>& one : demand_) demand += one.value_or(1);
  into.ran = counted.ran.sum();
  into.waited = counted.waited.sum();
  into.demand = demand;
  if (seconds_ > 0) into.used = use_;
}

host_metrics session::metrics() const {
  host_metrics result;
  result.messages = from_gone_;
  for (const auto& one : members_) {
    vm_metrics& into = result.vms.emplace_back();
    one->add_to(into);
    if (!one->chosen()) continue;
    into.state = optimiser_.state(one->number);
    into.count = one->count();
    *result.messages += one->link()->seen();
  }
  if (actor_) result.acts = actor_->counts();
  return result;
}

}  // namespace sukima::host
