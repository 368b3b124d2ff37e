// SPDX-License-Identifier: Apache-2.0
// Computes our CPU beside the neighbours: CPU is divided by weight in each group from the root down to ours.
#include <math.h>

#include "estimate/estimator.h"
#include "shared/assert.h"

// The members of a group that share its CPU, in the estimator's memory.
typedef struct sharers {
  cap_share* items;
  size_t count;
  double demand;
  bool has_groups;  // some members are groups, not threads
  double little;    // use of members that weigh_threads() does not handle
} sharers;

static void add(sharers* list, size_t limit, double weight, double demand) {
  if (!(demand > 0) || !(weight > 0) || list->count == limit) return;
  CAP_ASSERT(list->count < cap_share_count, "there is room for each member of a group");
  list->items[list->count++] = (cap_share){.weight = weight, .demand = demand};
  list->demand += demand;
}

static void add_group(sharers* list, double weight, double demand) {
  static const double little = 0.05;
  add(list, cap_share_count - 2, weight, demand);
  list->has_groups = list->has_groups || demand > little;
  list->little += demand;
}

// Adds other processes' threads that are directly in a group of the path, of this session (0: of no session).
static double add_tasks(const sukima_capacity_estimator* all, uint32_t level, uint64_t session,
                        sharers* list) {
  const cap_followed* followed = &all->followed;
  double use = 0;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->own || task->group != followed->path[level]) continue;
    use += all->demands.tasks[i].use;
    if (task->session != session) continue;
    add(list, cap_share_count - 2, task->weight, all->demands.task_demand[i]);
  }
  return use;
}

// Adds the other sessions of the root group. Each session is a group by itself.
static void add_sessions(const sukima_capacity_estimator* all, const cap_question* asked, sharers* list) {
  const cap_followed* followed = &all->followed;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* first = &followed->tasks[i];
    if (first->number == 0 || first->own || first->session == 0 || first->group != followed->path[0] ||
        first->session == followed->own_session) {
      continue;
    }
    double demand = 0;
    bool seen = false;
    for (int k = 0; k < followed->task_end; k++) {
      const cap_task* task = &followed->tasks[k];
      if (task->number == 0 || task->own || task->session != first->session) continue;
      seen = seen || k < i;
      demand += all->demands.task_demand[k];
    }
    if (!seen) add_group(list, first->session_weight, fmin(demand, asked->cpus));
  }
}

// The use of threads directly in a group of the path. If the root group has no counters, the machine's are
// used.
static double direct_use(const sukima_capacity_estimator* all, uint32_t level, uint64_t window_ns) {
  const cap_followed* followed = &all->followed;
  double use = cap_direct_use(followed, level, window_ns);
  if (level != 0 || !isnan(use)) return use;
  use = all->load.others;
  for (int i = 0; i < followed->group_end; i++) {
    const cap_group* group = &followed->groups[i];
    if (group->key != 0 && !group->on_path && group->level == 1) use -= all->demands.group_use[i];
  }
  for (int i = 0; i < followed->task_end; i++) {  // threads in lower groups of the path
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->own || task->group < 0) continue;
    const cap_group* group = &followed->groups[task->group];
    if (group->on_path ? group->level > 0 : group->level > 1) use -= all->demands.tasks[i].use;
  }
  return use;
}

// Adds all members that share the CPU of a group of the path, except the next group of the path and our own
// threads.
static void add_others(const sukima_capacity_estimator* all, uint32_t level, const cap_question* asked,
                       sharers* list) {
  const cap_followed* followed = &all->followed;
  for (int i = 0; i < followed->group_end; i++) {
    const cap_group* group = &followed->groups[i];
    if (group->key == 0 || group->on_path || group->level != level + 1) continue;
    add_group(list, group->weight, all->demands.group_demand[i]);
  }
  double known = 0;
  if (level == 0 && followed->autogroup) {
    known = add_tasks(all, level, 0, list);
    add_sessions(all, asked, list);
  } else {
    known = add_tasks(all, level, 0, list);
  }
  // Threads may be invisible, because they are in another PID namespace, or are too many. Assume the fewest
  // threads that can use that much.
  double direct = direct_use(all, level, asked->window_ns);
  if (direct > known + 0.02 && (!asked->is_partial || asked->unknown_within)) {
    double hidden = direct - known;
    add(list, cap_share_count - 2, ceil(hidden), hidden);
    list->little += hidden;
  }
}

static double own_demand(const sukima_capacity_estimator* all, const cap_question* asked) {
  return fmin(asked->threads * asked->each, all->facts.cap);
}

// Collects the weights of the threads that always want CPU, including ours, and adds the use of the others to
// `little`.
// \return their number; 0 if all weights are equal, or there are too many threads
static size_t weigh_threads(const sukima_capacity_estimator* all, const cap_question* asked, uint32_t level,
                            double weights[cap_placed_count], double* little) {
  const cap_followed* followed = &all->followed;
  size_t count = 0;
  for (double k = 0; k < asked->threads && count < cap_placed_count; k++)
    weights[count++] = followed->own_weight;
  bool differ = false;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    double demand = all->demands.task_demand[i];
    if (task->number == 0 || task->own || task->group != followed->path[level]) continue;
    if (level == 0 && followed->autogroup && task->session != followed->own_session) continue;
    const cap_demand* one = &all->demands.tasks[i];
    bool competes = demand > 0 && (one->states != UINT32_MAX || cap_wants_always(one->wanted));
    if (!competes) {
      *little += demand;
      continue;
    }
    if (count == cap_placed_count) return 0;
    weights[count++] = task->weight;
    differ = differ || fabs(task->weight - followed->own_weight) > 0.01 * followed->own_weight;
  }
  return differ ? count : 0;
}

// Our share of a group's CPU. The list contains the group's members, with ours at index `own`. If a few
// threads of different weights run on a few CPUs, their placement determines the shares.
static double share_among_threads(sukima_capacity_estimator* all, const cap_question* asked, double capacity,
                                  uint32_t level, sharers* list, size_t own) {
  static const double nothing = 0.02;
  static const double most = (double)cap_placed_count;
  cap_fair_share(capacity, list->items, list->count);
  double fluid = own < list->count ? list->items[own].share : 0;
  double cpus = round(asked->cpus / asked->each);
  bool is_whole = fabs(asked->threads - round(asked->threads)) < 0.01 && asked->threads <= most &&
                  cpus >= 1 && cpus <= most && fabs(capacity - cpus * asked->each) < nothing;
  if (list->has_groups || !is_whole || own >= list->count) return fluid;
  double weights[cap_placed_count];
  double little = list->little;
  size_t count = weigh_threads(all, asked, level, weights, &little);
  if (count == 0) return fluid;
  double each = fmax(0, capacity - little) / cpus;
  double placed = cap_placed_share((size_t)cpus, weights, count, all->followed.own_weight);
  return fmin(list->items[own].demand, asked->threads * placed * each);
}

// In the root group, our threads share with the other threads of our session first.
static double share_of_session(sukima_capacity_estimator* all, const cap_question* asked, double capacity,
                               sharers* list) {
  const cap_followed* followed = &all->followed;
  *list = (sharers){.items = all->shares};
  add_tasks(all, 0, followed->own_session, list);
  size_t own = list->count;
  add(list, cap_share_count, asked->threads * followed->own_weight, own_demand(all, asked));
  if (capacity < 0) return 0;
  return share_among_threads(all, asked, capacity, 0, list, own);
}

static double share_in_state(sukima_capacity_estimator* all, const cap_question* asked) {
  const cap_followed* followed = &all->followed;
  sharers list = {.items = all->shares};
  if (followed->path_length == 0) return 0;
  uint32_t leaf = followed->path_length - 1;
  bool in_session = leaf == 0 && followed->own_session != 0;
  // Upward from our group: the demand of each group of the path.
  double wanted[cap_level_count] = {0};
  double inside = own_demand(all, asked);
  if (in_session) {
    share_of_session(all, asked, -1, &list);
    inside = fmin(list.demand, asked->cpus);
  }
  for (uint32_t level = leaf + 1; level-- > 0;) {
    list = (sharers){.items = all->shares};
    add_others(all, level, asked, &list);
    const cap_group* group = &followed->groups[followed->path[level]];
    wanted[level] = fmin(list.demand + inside, fmin(group->quota, asked->cpus));
    inside = wanted[level];
  }
  // Downward from the root: the CPU of each group of the path.
  double capacity = fmin(asked->cpus, wanted[0]);
  for (uint32_t level = 0; level <= leaf; level++) {
    list = (sharers){.items = all->shares};
    add_others(all, level, asked, &list);
    size_t own = list.count;
    if (level < leaf) {
      add(&list, cap_share_count, followed->groups[followed->path[level + 1]].weight, wanted[level + 1]);
    } else if (in_session) {
      sharers session;
      share_of_session(all, asked, -1, &session);
      double demand = fmin(session.demand, asked->cpus);
      list = (sharers){.items = all->shares};  // the session's list used the same memory
      add_others(all, level, asked, &list);
      add(&list, cap_share_count, followed->own_session_weight, demand);
    } else {
      add(&list, cap_share_count, asked->threads * followed->own_weight, own_demand(all, asked));
    }
    if (level == leaf && !in_session) {
      capacity = share_among_threads(all, asked, capacity, leaf, &list, own);
    } else {
      cap_fair_share(capacity, list.items, list.count);
      capacity = own < list.count ? list.items[own].share : 0;
    }
  }
  return in_session ? share_of_session(all, asked, capacity, &list) : capacity;
}

double cap_share_of_demands(sukima_capacity_estimator* all, const cap_question* asked) {
  if (all->followed.path_length == 0) return 0;
  unsigned count = all->demands.has_bursts ? cap_state_count : 1;
  double sum = 0;
  for (unsigned state = 0; state < count; state++) {
    cap_find_demands_in_state(all, asked, state);
    sum += share_in_state(all, asked);
  }
  CAP_ASSERT(sum >= 0, "a share is a number of CPUs");
  return sum / count;
}

double cap_share_in_tree(sukima_capacity_estimator* all, const cap_question* asked) {
  cap_find_demands(all, asked);
  return cap_share_of_demands(all, asked);
}
