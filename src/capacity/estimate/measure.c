// SPDX-License-Identifier: Apache-2.0
// Computes the measured values from counters: rates over windows that fit the quota's period.
#include <math.h>

#include "estimate/estimator.h"

static const uint64_t million = 1000000;

// The multiple of the period that is nearest to a window. Over a window that is not a multiple, the rate is
// wrong by up to 30 %, because a throttled group gets its CPU at the beginning of each period.
static uint64_t fit(uint64_t window_ns, uint64_t period_us) {
  uint64_t period = period_us * 1000;
  if (period == 0) return window_ns;
  uint64_t count = (window_ns + period / 2) / period;
  return (count != 0 ? count : 1) * period;
}

static void measure_machine(sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  sukima_capacity_load* load = &all->load;
  load->idle = NAN;
  load->others = NAN;
  const cap_machine_change change = cap_follow_machine(followed, all->long_ns);
  if (followed->has_stat) {
    double online = all->facts.online != 0 ? all->facts.online : all->facts.cap;
    const cap_machine_stat ticks = change.ticks;
    double sum = (double)(ticks.busy + ticks.idle + ticks.stolen);
    if (sum > 0) {
      load->idle = online * (double)ticks.idle / sum;
      load->others = fmax(0, online * (double)ticks.busy / sum - load->now);
    }
  }
  // The root group's counter is exact, and the ticks are not.
  if (followed->tree_visible && followed->groups[followed->path[0]].has_usage) {
    double use = cap_group_use(followed, &followed->groups[followed->path[0]], all->long_ns);
    load->others = fmax(0, use - load->now);
  }
  load->running = NAN;
  if (followed->has_running) {
    uint64_t from = cap_follow_back(followed, slow_window_ns, 1);
    double sum = 0;
    for (uint64_t s = from + 1; s <= followed->sample; s++)
      sum += (double)cap_follow_at(followed, s)->running;
    // The thread that reads the file is itself running.
    load->running = fmax(0, sum / (double)(followed->sample - from) - 1);
  }
  bool known = change.seconds > 0;
  load->pressure = followed->has_pressure && known ? fmin(1, change.pressure) : NAN;
  load->group_pressure = followed->has_group_pressure && known ? fmin(1, change.group_pressure) : NAN;
}

// The number of threads of a group of the path that want CPU, including the groups below it.
static double wanted_inside(const cap_followed* followed, uint32_t level, uint64_t window_ns) {
  double wanted = 0;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->group < 0) continue;
    const cap_group* group = &followed->groups[task->group];
    if (group->on_path ? group->level >= level : group->level > level) {
      wanted += cap_task_wanted(followed, task, window_ns);
    }
  }
  return wanted;
}

// The kernel sums throttled time over the CPUs on which threads of the group waited, and counts each CPU
// once.
static double throttled_part(const sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  double most = 0;
  for (uint32_t level = 0; level < followed->path_length; level++) {
    const cap_group* group = &followed->groups[followed->path[level]];
    if (isinf(group->quota)) continue;
    uint64_t from = cap_follow_back(followed, all->long_ns, group->since);
    double rate = cap_follow_rate(followed, from, group->values[from % cap_ring_size].throttled_ns,
                                  group->values[followed->sample % cap_ring_size].throttled_ns);
    double threads = round(wanted_inside(followed, level, all->long_ns));
    double cpus = fmax(1, fmin(threads, all->facts.cap));
    most = fmax(most, fmin(1, rate / cpus));
  }
  return most;
}

static void measure_own(sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  sukima_capacity_load* load = &all->load;
  load->now = cap_own_use(followed, all->long_ns);
  load->now_short = cap_own_use(followed, all->short_ns);
  load->throttled = throttled_part(all);
  load->wanted = followed->has_tasks ? 0 : NAN;
  load->waiting = load->wanted;
  load->slice_seconds = NAN;
  double run = 0;
  double slices = 0;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || !task->own) continue;
    const cap_task_rates rates = cap_task_rates_in(followed, task, all->long_ns);
    load->wanted += fmin(1, rates.run + rates.wait);
    load->waiting += fmin(1, fmax(0, rates.wait - load->throttled));
    run += rates.run;
    slices += rates.slices;
  }
  if (slices > 0) load->slice_seconds = run / slices;
  // The kernel counts a long wait only when it ends.
  if (load->wanted < load->now) load->wanted = load->now;
}

static uint32_t count_neighbours(const sukima_capacity_estimator* all) {
  static const double least = 0.003;
  const cap_followed* followed = &all->followed;
  uint32_t count = 0;
  for (int i = 0; i < followed->group_end; i++) {
    const cap_group* group = &followed->groups[i];
    if (group->key != 0 && !group->on_path) count += cap_group_use(followed, group, all->long_ns) > least;
  }
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->own || !followed->groups[task->group].on_path) continue;
    count += cap_task_use(followed, task, all->long_ns) > least;
  }
  return count;
}

void cap_measure(sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  sukima_capacity_load* load = &all->load;
  all->long_ns = fit(500 * million, all->facts.quota_period_us);
  all->short_ns = fit(200 * million, all->facts.quota_period_us);
  load->samples = followed->sample;
  load->threads = followed->thread_count;
  load->tree_visible = followed->tree_visible;
  load->nice = followed->own_nice;
  load->autogroup = followed->own_session != 0;
  uint64_t now = cap_follow_at(followed, followed->sample)->time_ns;
  load->host_cpus = cap_host_cpus(&all->host, now);
  load->host_malformed = all->host.is_malformed;
  load->seconds = cap_follow_seconds(followed, cap_follow_back(followed, all->long_ns, 1));
  uint64_t first = cap_follow_back(followed, UINT64_MAX, 1);
  load->cost = cap_follow_rate(followed, first, cap_follow_at(followed, first)->spent_ns, all->spent_ns);
  if (!(load->seconds > 0)) return;
  measure_own(all);
  measure_machine(all);
  cap_measure_steal(all);
  load->neighbours = count_neighbours(all);
}
