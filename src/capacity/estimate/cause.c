// SPDX-License-Identifier: Apache-2.0
// Determines the cause of the largest loss of CPU: limits, the host, the hypervisor or the neighbours.
#include <math.h>

#include "estimate/estimator.h"

// If an estimate is below the limits by less than this, the limits are its cause.
static const double least_loss = 0.02;

sukima_capacity_kind sukima_capacity_estimator_cause(const sukima_capacity_estimator* all,
                                                     const sukima_capacity_estimate* estimate) {
  const sukima_capacity_facts* facts = &all->facts;
  const sukima_capacity_load* load = &all->load;
  double allowed = fmin(estimate->threads, facts->usable);
  double left = estimate->usable;
  if (facts->binding == SUKIMA_CAPACITY_OVERRIDE || !(load->seconds > 0) || left >= allowed - least_loss) {
    return facts->binding;
  }
  // For each cause, the CPU that would be available without it, all else being equal.
  double online = facts->online != 0 ? facts->online : facts->cap;
  bool is_all = estimate->threads >= facts->cap;  // otherwise the caller asks for less than that
  double by_limits = (is_all ? online : fmin(estimate->threads, online)) - allowed;
  double by_steal = load->stolen < 1 ? left / (1 - load->stolen) - left : 0;
  double without_others = fmin(allowed, fmin(estimate->threads, facts->cap) * (1 - load->stolen));
  // If host_cpus is NAN, the comparison is false.
  double by_host = load->host_cpus < without_others ? without_others - load->host_cpus : 0;
  double by_others = without_others - by_host - left;
  double most = fmax(fmax(by_limits, by_steal), fmax(by_host, by_others));
  if (most == by_limits) return facts->binding;
  if (most == by_host) return SUKIMA_CAPACITY_HOST;
  if (most == by_steal) return SUKIMA_CAPACITY_STEAL;
  if (!all->followed.tree_visible && cap_has_hidden_quota(all)) return SUKIMA_CAPACITY_THROTTLING;
  return load->neighbours != 0 || cap_unseen_use(all) > 0 ? SUKIMA_CAPACITY_NEIGHBOUR : facts->binding;
}
