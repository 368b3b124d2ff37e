// SPDX-License-Identifier: Apache-2.0
// Estimates the neighbours' demand: their present use, or more in a part of the time if they come and go.
#include <math.h>
#include <string.h>

#include "estimate/estimator.h"
#include "shared/assert.h"

// A thread counts as coming and going if it wants CPU for a part of the time between these values.
static const double least_part = 0.1;
static const double most_part = 0.9;
// A thread with shorter bursts answers requests: it needs the same CPU when it competes with us, only later.
static const double shortest_burst_seconds = 0.01;
// If a thread waits for more than this part of its running time, its bursts cannot be told from its time
// slices.
static const double most_waiting = 0.1;
// A change of use by this much of a CPU between two samples, up and down, shows a thread that comes and goes.
static const double visible_change = 0.3;
enum { least_changes = 3 };

// The use of a thread in the sample after `sample`: that of its group if the group is beside us, otherwise
// its own.
static double use_after(const cap_followed* followed, const cap_task* task, uint64_t sample) {
  const cap_group* group = &followed->groups[task->group];
  uint64_t next = (sample + 1) % cap_ring_size;
  double seconds =
      (double)(followed->moments[next].time_ns - cap_follow_at(followed, sample)->time_ns) * 1e-9;
  bool beside = group->has_usage && !group->on_path;
  uint64_t old =
      beside ? group->values[sample % cap_ring_size].usage_ns : task->values[sample % cap_ring_size].run_ns;
  uint64_t new = beside ? group->values[next].usage_ns : task->values[next].run_ns;
  return seconds > 0 && new > old ? (double)(new - old) * 1e-9 / seconds : 0;
}

// Whether a thread comes and goes so slowly that samples show it, several times in the slow window. (The use
// of a neighbour that has just started or ended changes only once.)
static bool is_intermittent(const cap_followed* followed, const cap_task* task) {
  const cap_group* group = &followed->groups[task->group];
  uint64_t since =
      group->has_usage && !group->on_path && group->since > task->since ? group->since : task->since;
  uint64_t from = cap_follow_back(followed, slow_window_ns, since);
  if (from == followed->sample) return false;
  double mean = 0;
  for (uint64_t s = from; s < followed->sample; s++) mean += use_after(followed, task, s);
  mean /= (double)(followed->sample - from);
  int side = 0;
  int changes = 0;
  for (uint64_t s = from; s < followed->sample; s++) {
    double use = use_after(followed, task, s);
    int now = use > mean + visible_change ? 1 : use < mean - visible_change ? -1 : side;
    changes += now != side && side != 0;
    side = now;
  }
  return changes >= least_changes;
}

// The states in which a neighbour wants CPU. Neighbours come and go independently of each other. State
// numbers with rotated bits are independent for up to five neighbours, and nearly independent for more.
static uint32_t states_of(unsigned neighbour, uint32_t count) {
  uint32_t states = 0;
  for (uint32_t s = 0; s < cap_state_count; s++) {
    uint32_t number = s ^ (neighbour / 5 * 7 % cap_state_count);
    uint32_t turn = neighbour % 5;
    number = (number << turn | number >> (5 - turn)) % cap_state_count;
    if (number < count) states |= UINT32_C(1) << s;
  }
  CAP_ASSERT((uint32_t)__builtin_popcount(states) == count,
             "a neighbour wants CPU in as many states as its part of the time");
  return states;
}

static cap_demand demand_of(const cap_followed* followed, const cap_task* task, const cap_question* asked,
                            uint64_t window_ns, unsigned* bursts) {
  cap_demand found = {.use = cap_task_use(followed, task, asked->window_ns),
                      .wanted = cap_task_wanted(followed, task, asked->window_ns),
                      .states = UINT32_MAX};
  // A thread that never blocks wants more than it gets, unless it is bound to too few CPUs.
  bool wants_more = asked->has_backlog || (cap_wants_always(found.wanted) && task->binding < 0);
  found.demand = wants_more ? fmin(asked->each, fmax(found.use, found.wanted)) : found.use;
  if (!asked->has_bursts) return found;
  const cap_task_rates rates = cap_task_rates_in(followed, task, window_ns);
  double part = rates.run + rates.wait;
  bool is_contended = rates.wait > most_waiting * rates.run;
  bool is_long = !(rates.slices * shortest_burst_seconds > rates.run);
  if (part < least_part || part > most_part || !(is_contended || is_long)) return found;
  static const double states = (double)cap_state_count;
  double count = fmin(states - 1, fmax(1, round(part * states)));
  CAP_ASSERT(found.use >= 0 && found.wanted >= 0, "a thread uses and wants no less than no CPU");
  found.use = fmin(1, rates.run);
  found.demand = asked->has_backlog ? asked->each : fmin(asked->each, rates.run * states / count);
  found.states = states_of((*bursts)++, (uint32_t)count);
  return found;
}

static void find_intermittent(cap_demands* demands, const cap_followed* followed) {
  if (demands->sample == followed->sample && demands->search == followed->search) return;
  demands->sample = followed->sample;
  demands->search = followed->search;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    demands->is_intermittent[i] = task->number != 0 && !task->own && is_intermittent(followed, task);
  }
}

void cap_find_demands(sukima_capacity_estimator* all, const cap_question* asked) {
  const cap_followed* followed = &all->followed;
  cap_demands* demands = &all->demands;
  unsigned bursts = 0;
  find_intermittent(demands, followed);
  uint64_t windows[cap_group_count];
  for (int i = 0; i < followed->group_end; i++) windows[i] = asked->window_ns;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->own) continue;
    bool is_slow = asked->has_bursts && demands->is_intermittent[i];
    if (is_slow) windows[task->group] = slow_window_ns;
    demands->tasks[i] =
        demand_of(followed, task, asked, is_slow ? slow_window_ns : asked->window_ns, &bursts);
  }
  for (int i = 0; i < followed->group_end; i++) {
    const cap_group* group = &followed->groups[i];
    demands->group_use[i] = group->key != 0 ? cap_group_use(followed, group, windows[i]) : 0;
  }
  demands->has_bursts = bursts != 0;
}

bool cap_is_within(const cap_question* asked, int binding) {
  if (!asked->is_partial) return true;
  if (binding >= 0) return (asked->within >> binding & 1) != 0;
  return binding == cap_unknown_binding && asked->unknown_within;
}

// The sums over a group's threads, in the present state and within the part of the machine in question.
typedef struct group_sums {
  double use;
  double demand;
  double wanted;
  bool has_tasks;
  bool all_within;
} group_sums;

static double group_demand(const cap_demands* demands, const cap_group* group, int index,
                           const group_sums* sums, const cap_question* asked) {
  double use = demands->group_use[index];
  double demand = 0;
  if (sums->use > use) {
    demand = sums->demand * use / sums->use;
  } else {
    // Use that no known thread explains: by threads that have ended, or that cannot be seen.
    bool within = sums->has_tasks ? sums->all_within : cap_is_within(asked, group->binding);
    demand = sums->demand + (within ? use - sums->use : 0);
  }
  if (asked->has_backlog) demand = fmax(demand, sums->wanted);
  return fmin(demand, fmin(group->quota, asked->cpus));
}

void cap_find_demands_in_state(sukima_capacity_estimator* all, const cap_question* asked, unsigned state) {
  const cap_followed* followed = &all->followed;
  cap_demands* demands = &all->demands;
  group_sums sums[cap_group_count];
  memset(sums, 0, sizeof sums[0] * (size_t)followed->group_end);
  for (int i = 0; i < followed->group_end; i++) sums[i].all_within = true;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->own) continue;
    const cap_demand* one = &demands->tasks[i];
    bool within = cap_is_within(asked, task->binding);
    bool wants = (one->states >> state & 1) != 0;
    demands->task_demand[i] = within && wants ? one->demand : 0;
    group_sums* sum = &sums[task->group];
    sum->use += one->use;
    sum->demand += demands->task_demand[i];
    sum->wanted += within && wants ? one->wanted : 0;
    sum->has_tasks = true;
    sum->all_within = sum->all_within && within;
  }
  for (int i = 0; i < followed->group_end; i++) {
    const cap_group* group = &followed->groups[i];
    if (group->key == 0 || group->on_path) continue;
    demands->group_demand[i] = group_demand(demands, group, i, &sums[i], asked);
  }
}
