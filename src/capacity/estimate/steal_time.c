// SPDX-License-Identifier: Apache-2.0
// Measures steal time: CPU time that the hypervisor gave to others. The kernel reports it, or steal probes
// find it.
#include <math.h>

#include "estimate/estimator.h"

// Steal time that was measured longer ago than this is no longer used.
static const uint64_t steal_memory_ns = 30000000000;

static void read_reported_steal(sukima_capacity_estimator* all) {
  const cap_machine_stat ticks = cap_follow_machine(&all->followed, slow_window_ns).ticks;
  uint64_t now = cap_follow_at(&all->followed, all->followed.sample)->time_ns;
  double wanted = (double)(ticks.busy + ticks.stolen);
  if (wanted >= 20) {
    all->steal_time = (double)ticks.stolen / wanted;
    all->stolen_seen_ns = now;
  } else if (now - all->stolen_seen_ns > steal_memory_ns) {
    all->steal_time = 0;
  }
}

// Applies unreported steal: the mean of the probes counts if it is more than the reported steal time.
static void apply_steal_probes(sukima_capacity_estimator* all) {
  uint64_t now = cap_follow_at(&all->followed, all->followed.sample)->time_ns;
  if (all->probed_steal_seen_ns == 0) all->probed_steal_seen_ns = now;
  if (now - all->probed_steal_seen_ns > steal_memory_ns) {
    all->probed_steal = 0;
    all->steal_probes = 0;
  }
  all->load.stolen = fmax(all->steal_time, all->probed_steal);
}

// Corrects CPU clocks for steal time. If the kernel has paravirtual accounting, CPU clocks exclude steal
// time. Otherwise they continue to run while the hypervisor runs others. Then the kernel counts more CPU time
// than there was, in total or per busy CPU.
static void correct_clocks(sukima_capacity_estimator* all) {
  static const double beyond_noise = 1.1;
  sukima_capacity_load* load = &all->load;
  double each = 1 - load->stolen;
  double online = all->facts.online != 0 ? all->facts.online : all->facts.cap;
  double total = isnan(load->others) ? load->now : load->now + load->others;
  double on_each = load->now / fmin(online, fmax(1, ceil(load->wanted - 0.02)));
  double got = 1;
  if (total > online * each * beyond_noise) got = fmin(got, online * each / total);
  if (on_each > each * beyond_noise) got = fmin(got, each / on_each);
  load->now *= got;
  load->now_short *= got;
  load->others *= got;
}

void cap_measure_steal(sukima_capacity_estimator* all) {
  if (all->followed.has_stat) read_reported_steal(all);
  apply_steal_probes(all);
  if (all->load.stolen > 0) correct_clocks(all);
}

void sukima_capacity_estimator_add_steal_probe(sukima_capacity_estimator* estimator, double taken) {
  // A probe covers only a few dozen of the hypervisor's time slices. The mean of several probes is more
  // exact.
  static const uint32_t most_probes = 4;
  if (!(taken >= 0 && taken <= 1)) return;
  if (estimator->steal_probes < most_probes) estimator->steal_probes++;
  estimator->probed_steal += (taken - estimator->probed_steal) / estimator->steal_probes;
  estimator->probed_steal_seen_ns = 0;
}
