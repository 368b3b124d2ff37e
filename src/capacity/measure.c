// SPDX-License-Identifier: Apache-2.0
// From counters to what was measured: rates over windows that fit the quota's period.
#include <math.h>

#include "estimator.h"

static const uint64_t million = 1000000;
// For what is noisy or comes in ticks of 10 ms.
static const uint64_t slow_window_ns = 2000000000;
// Steal that was seen so long ago says nothing any longer.
static const uint64_t steal_memory_ns = 30000000000;

// The multiple of the period that is nearest to a window. A window that is no multiple is off by up to 30 %,
// because a group that is held back gets its CPU at the beginning of each period.
static uint64_t fit(uint64_t window_ns, uint64_t period_us) {
  uint64_t period = period_us * 1000;
  if (period == 0) return window_ns;
  uint64_t count = (window_ns + period / 2) / period;
  return (count != 0 ? count : 1) * period;
}

static void measure_steal(sukima_capacity_estimator* all) {
  const sukima_machine_stat ticks = sukima_watch_machine(&all->watch, slow_window_ns).ticks;
  uint64_t now = sukima_watch_at(&all->watch, all->watch.sample)->time_ns;
  double wanted = (double)(ticks.busy + ticks.stolen);
  if (wanted >= 20) {
    all->steal_time = (double)ticks.stolen / wanted;
    all->stolen_seen_ns = now;
  } else if (now - all->stolen_seen_ns > steal_memory_ns) {
    all->steal_time = 0;
  }
}

// What a hypervisor took without a word is what probes found, if that is more than steal time.
static void heed_gaps(sukima_capacity_estimator* all) {
  uint64_t now = sukima_watch_at(&all->watch, all->watch.sample)->time_ns;
  if (all->gaps_seen_ns == 0) all->gaps_seen_ns = now;
  if (now - all->gaps_seen_ns > steal_memory_ns) {
    all->gaps = 0;
    all->gap_probes = 0;
  }
  all->load.stolen = fmax(all->steal_time, all->gaps);
}

// CPU clocks leave steal time out where the kernel has paravirtual accounting, and otherwise run on while the
// hypervisor runs others. Then more is booked than there was, for all programs or for each busy CPU.
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

static void measure_machine(sukima_capacity_estimator* all) {
  const sukima_watch* watch = &all->watch;
  sukima_capacity_load* load = &all->load;
  load->idle = NAN;
  load->others = NAN;
  const sukima_machine_change change = sukima_watch_machine(watch, all->long_ns);
  if (watch->has_stat) {
    double online = all->facts.online != 0 ? all->facts.online : all->facts.cap;
    const sukima_machine_stat ticks = change.ticks;
    double sum = (double)(ticks.busy + ticks.idle + ticks.stolen);
    if (sum > 0) {
      load->idle = online * (double)ticks.idle / sum;
      load->others = fmax(0, online * (double)ticks.busy / sum - load->now);
    }
    measure_steal(all);
  }
  // The sum of the root group is exact where the ticks are not.
  if (watch->tree_visible && watch->groups[watch->path[0]].has_usage) {
    double use = sukima_group_use(watch, &watch->groups[watch->path[0]], all->long_ns);
    load->others = fmax(0, use - load->now);
  }
  load->running = NAN;
  if (watch->has_running) {
    uint64_t from = sukima_watch_back(watch, slow_window_ns, 1);
    double sum = 0;
    for (uint64_t s = from + 1; s <= watch->sample; s++) sum += (double)sukima_watch_at(watch, s)->running;
    // Who reads the number is running.
    load->running = fmax(0, sum / (double)(watch->sample - from) - 1);
  }
  bool known = change.seconds > 0;
  load->pressure = watch->has_pressure && known ? fmin(1, change.pressure) : NAN;
  load->group_pressure = watch->has_group_pressure && known ? fmin(1, change.group_pressure) : NAN;
}

void sukima_capacity_estimator_found_gaps(sukima_capacity_estimator* estimator, double taken) {
  // A probe sees some tens of the hypervisor's turns: a few of them together are more than one.
  static const uint32_t most_probes = 4;
  if (!(taken >= 0 && taken <= 1)) return;
  if (estimator->gap_probes < most_probes) estimator->gap_probes++;
  estimator->gaps += (taken - estimator->gaps) / estimator->gap_probes;
  estimator->gaps_seen_ns = 0;
}

// How many threads of a group of the path want CPU, those of the groups below it included.
static double wanted_inside(const sukima_watch* watch, uint32_t level, uint64_t window_ns) {
  double wanted = 0;
  for (int i = 0; i < watch->task_end; i++) {
    const sukima_task* task = &watch->tasks[i];
    if (task->number == 0 || task->group < 0) continue;
    const sukima_group* group = &watch->groups[task->group];
    if (group->on_path ? group->level >= level : group->level > level) {
      wanted += sukima_task_wanted(watch, task, window_ns);
    }
  }
  return wanted;
}

// The kernel sums throttled time over the CPUs on which threads of the group waited, each CPU once.
static double throttled_part(const sukima_capacity_estimator* all) {
  const sukima_watch* watch = &all->watch;
  double most = 0;
  for (uint32_t level = 0; level < watch->path_length; level++) {
    const sukima_group* group = &watch->groups[watch->path[level]];
    if (isinf(group->quota)) continue;
    uint64_t from = sukima_watch_back(watch, all->long_ns, group->since);
    double rate = sukima_watch_rate(watch, from, group->values[from % sukima_ring_size].throttled_ns,
                                    group->values[watch->sample % sukima_ring_size].throttled_ns);
    double threads = round(wanted_inside(watch, level, all->long_ns));
    double cpus = fmax(1, fmin(threads, all->facts.cap));
    most = fmax(most, fmin(1, rate / cpus));
  }
  return most;
}

static void measure_own(sukima_capacity_estimator* all) {
  const sukima_watch* watch = &all->watch;
  sukima_capacity_load* load = &all->load;
  load->now = sukima_own_use(watch, all->long_ns);
  load->now_short = sukima_own_use(watch, all->short_ns);
  load->throttled = throttled_part(all);
  load->wanted = watch->has_tasks ? 0 : NAN;
  load->waiting = load->wanted;
  load->slice_seconds = NAN;
  double run = 0;
  double slices = 0;
  for (int i = 0; i < watch->task_end; i++) {
    const sukima_task* task = &watch->tasks[i];
    if (task->number == 0 || !task->own) continue;
    const sukima_task_rates rates = sukima_task_rates_in(watch, task, all->long_ns);
    load->wanted += fmin(1, rates.run + rates.wait);
    load->waiting += fmin(1, fmax(0, rates.wait - load->throttled));
    run += rates.run;
    slices += rates.slices;
  }
  if (slices > 0) load->slice_seconds = run / slices;
  // A thread that waits for long is booked only when its wait ends.
  if (load->wanted < load->now) load->wanted = load->now;
}

static uint32_t count_neighbours(const sukima_capacity_estimator* all) {
  static const double least = 0.003;
  const sukima_watch* watch = &all->watch;
  uint32_t count = 0;
  for (int i = 0; i < watch->group_end; i++) {
    const sukima_group* group = &watch->groups[i];
    if (group->key != 0 && !group->on_path) count += sukima_group_use(watch, group, all->long_ns) > least;
  }
  for (int i = 0; i < watch->task_end; i++) {
    const sukima_task* task = &watch->tasks[i];
    if (task->number == 0 || task->own || !watch->groups[task->group].on_path) continue;
    count += sukima_task_use(watch, task, all->long_ns) > least;
  }
  return count;
}

void sukima_measure(sukima_capacity_estimator* all) {
  const sukima_watch* watch = &all->watch;
  sukima_capacity_load* load = &all->load;
  all->long_ns = fit(500 * million, all->facts.quota_period_us);
  all->short_ns = fit(200 * million, all->facts.quota_period_us);
  load->samples = watch->sample;
  load->threads = watch->thread_count;
  load->tree_visible = watch->tree_visible;
  load->nice = watch->own_nice;
  load->autogroup = watch->own_session != 0;
  uint64_t now = sukima_watch_at(watch, watch->sample)->time_ns;
  load->host_cpus = sukima_host_cpus(&all->host, now);
  load->seconds = sukima_watch_seconds(watch, sukima_watch_back(watch, all->long_ns, 1));
  uint64_t first = sukima_watch_back(watch, UINT64_MAX, 1);
  load->cost = sukima_watch_rate(watch, first, sukima_watch_at(watch, first)->spent_ns, all->spent_ns);
  if (!(load->seconds > 0)) return;
  measure_own(all);
  measure_machine(all);
  heed_gaps(all);
  if (load->stolen > 0) correct_clocks(all);
  load->neighbours = count_neighbours(all);
}
