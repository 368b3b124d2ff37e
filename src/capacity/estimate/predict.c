// SPDX-License-Identifier: Apache-2.0
// What k threads would get: computed from the tree of groups, or bounded where that cannot be seen.
#include <math.h>

#include "estimate/estimator.h"

// Windows in which the neighbours' use is looked at: an interval comes from their differences.
static const uint64_t slow_window_ns = 2000000000;
// The error of the computed value in steady cases.
static const double slack = 0.05;
// A blind guess "no groups" is believed if it explains what we get now this well.
static const double believable = 0.07;
// Results of experiments are valid for so long, unless the neighbours' use changes by this part.
static const uint64_t experiment_age_ns = 10000000000;
static const double experiment_change = 0.2;
// A thread that runs for less than this before it blocks is outside of every model of fair sharing.
static const double shortest_slice_seconds = 0.002;

// What a computation answers.
typedef struct question {
  double threads;      // that we have
  uint64_t window_ns;  // in which the neighbours' use counts
  bool has_backlog;  // neighbours want what they use and what they wait for; otherwise what they use
  double cpus;  // of the machine
  double each;  // what one CPU gives to a thread: less than 1 if the hypervisor takes a part
} question;

double cap_machine_cpus(const sukima_capacity_estimator* all) {
  double online = all->facts.online != 0 ? all->facts.online : all->facts.cap;
  double cpus = online * (1 - all->load.stolen);
  return all->load.host_cpus < cpus ? all->load.host_cpus : cpus;  // a NAN is not smaller
}

static double task_demand(const cap_followed* followed, const cap_task* task, const question* asked) {
  double use = cap_task_use(followed, task, asked->window_ns);
  if (!asked->has_backlog) return use;
  return fmin(asked->each, fmax(use, cap_task_wanted(followed, task, asked->window_ns)));
}

static double group_demand(const cap_followed* followed, const cap_group* group, const question* asked) {
  double demand = cap_group_use(followed, group, asked->window_ns);
  if (asked->has_backlog) {
    double wanted = 0;
    int index = (int)(group - followed->groups);
    for (int i = 0; i < followed->task_end; i++) {
      const cap_task* task = &followed->tasks[i];
      if (task->number == 0 || task->group != index) continue;
      wanted += cap_task_wanted(followed, task, asked->window_ns);
    }
    demand = fmax(demand, wanted);
  }
  return fmin(demand, fmin(group->quota, asked->cpus));
}

// The members of a group that share its CPU, in the estimator's memory.
typedef struct sharers {
  cap_share* items;
  size_t count;
  double demand;
} sharers;

static void add(sharers* list, size_t limit, double weight, double demand) {
  if (!(demand > 0) || !(weight > 0) || list->count == limit) return;
  list->items[list->count++] = (cap_share){.weight = weight, .demand = demand};
  list->demand += demand;
}

// Other processes' threads directly in a group of the path, of this session (0: of none).
static double add_tasks(const cap_followed* followed, uint32_t level, uint64_t session, const question* asked,
                        sharers* list) {
  double use = 0;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->own || task->group != followed->path[level]) continue;
    use += cap_task_use(followed, task, asked->window_ns);
    if (task->session != session) continue;
    add(list, cap_share_count - 2, task->weight, task_demand(followed, task, asked));
  }
  return use;
}

// The other sessions of the root group: each is a group by itself.
static void add_sessions(const cap_followed* followed, const question* asked, sharers* list) {
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
      demand += task_demand(followed, task, asked);
    }
    if (!seen) add(list, cap_share_count - 2, first->session_weight, fmin(demand, asked->cpus));
  }
}

// All that share what a group of the path gets, except the next group of the path and our own threads.
static void add_others(const cap_followed* followed, uint32_t level, const question* asked, sharers* list) {
  for (int i = 0; i < followed->group_end; i++) {
    const cap_group* group = &followed->groups[i];
    if (group->key == 0 || group->on_path || group->level != level + 1) continue;
    add(list, cap_share_count - 2, group->weight, group_demand(followed, group, asked));
  }
  double known = 0;
  if (level == 0 && followed->autogroup) {
    known = add_tasks(followed, level, 0, asked, list);
    add_sessions(followed, asked, list);
  } else {
    known = add_tasks(followed, level, 0, asked, list);
  }
  // Threads that cannot be seen (of another PID namespace, or too many): as few as can use that much.
  double direct = cap_direct_use(followed, level, asked->window_ns);
  if (direct > known + 0.02) {
    double hidden = direct - known;
    add(list, cap_share_count - 2, ceil(hidden), hidden);
  }
}

static double own_demand(const sukima_capacity_estimator* all, const question* asked) {
  return fmin(asked->threads * asked->each, all->facts.cap);
}

// In the root group our threads share with the other threads of our session first.
static double share_of_session(sukima_capacity_estimator* all, const question* asked, double capacity,
                               sharers* list) {
  const cap_followed* followed = &all->followed;
  *list = (sharers){all->shares, 0, 0};
  add_tasks(followed, 0, followed->own_session, asked, list);
  size_t own = list->count;
  add(list, cap_share_count, asked->threads * followed->own_weight, own_demand(all, asked));
  if (capacity < 0) return 0;
  cap_fair_share(capacity, list->items, list->count);
  return own < list->count ? list->items[own].share : 0;
}

static double share_in_tree(sukima_capacity_estimator* all, const question* asked) {
  const cap_followed* followed = &all->followed;
  sharers list = {all->shares, 0, 0};
  if (followed->path_length == 0) return 0;
  uint32_t leaf = followed->path_length - 1;
  bool in_session = leaf == 0 && followed->own_session != 0;
  // From ours up: what each group of the path wants.
  double wanted[cap_level_count] = {0};
  double inside = own_demand(all, asked);
  if (in_session) {
    share_of_session(all, asked, -1, &list);
    inside = fmin(list.demand, asked->cpus);
  }
  for (uint32_t level = leaf + 1; level-- > 0;) {
    list = (sharers){all->shares, 0, 0};
    add_others(followed, level, asked, &list);
    const cap_group* group = &followed->groups[followed->path[level]];
    wanted[level] = fmin(list.demand + inside, fmin(group->quota, asked->cpus));
    inside = wanted[level];
  }
  // From the root down: what each of them gets.
  double capacity = fmin(asked->cpus, wanted[0]);
  for (uint32_t level = 0; level <= leaf; level++) {
    list = (sharers){all->shares, 0, 0};
    add_others(followed, level, asked, &list);
    size_t own = list.count;
    if (level < leaf) {
      add(&list, cap_share_count, followed->groups[followed->path[level + 1]].weight, wanted[level + 1]);
    } else if (in_session) {
      sharers session;
      share_of_session(all, asked, -1, &session);
      double demand = fmin(session.demand, asked->cpus);
      list = (sharers){all->shares, 0, 0};  // the session's list stood in the same memory
      add_others(followed, level, asked, &list);
      add(&list, cap_share_count, followed->own_session_weight, demand);
    } else {
      add(&list, cap_share_count, asked->threads * followed->own_weight, own_demand(all, asked));
    }
    cap_fair_share(capacity, list.items, list.count);
    capacity = own < list.count ? list.items[own].share : 0;
  }
  return in_session ? share_of_session(all, asked, capacity, &list) : capacity;
}

static void predict_tree(sukima_capacity_estimator* all, double threads, sukima_capacity_estimate* result) {
  double each = fmin(1, 1 - all->load.stolen);
  question asked = {
      .threads = threads, .window_ns = all->long_ns, .cpus = cap_machine_cpus(all), .each = each};
  // With fewer threads than now the neighbours get more, up to what they wait for now.
  asked.has_backlog = threads < all->load.wanted - 0.1;
  result->usable = share_in_tree(all, &asked);
  result->low = result->usable;
  result->high = result->usable;
  const uint64_t windows[2] = {all->short_ns, slow_window_ns};
  for (int i = 0; i < 2; i++) {
    asked.window_ns = windows[i];
    double other = share_in_tree(all, &asked);
    result->low = fmin(result->low, other);
    result->high = fmax(result->high, other);
  }
  // The neighbours may be bound to the same CPUs as we are.
  if (all->facts.cap < asked.cpus) {
    asked.window_ns = all->long_ns;
    asked.cpus = all->facts.cap;
    result->low = fmin(result->low, share_in_tree(all, &asked));
  }
  result->low *= 1 - slack;
  result->high *= 1 + slack;
  bool host_limits = all->load.host_cpus <= cap_machine_cpus(all);
  result->basis = host_limits ? SUKIMA_CAPACITY_BASIS_HOST : SUKIMA_CAPACITY_BASIS_TREE;
}

// Our threads' share as it would be without a quota: 1 - throttled is the part of the time that they had.
static double unthrottled(const sukima_capacity_load* load) {
  return load->throttled < 0.95 ? load->now / (1 - load->throttled) : load->now;
}

// What is visible without the neighbours: the highest visible group, with ours and what is beside ours
// in it, and how many threads of the machine are runnable.
typedef struct view {
  double cpus;  // that our threads may run on
  double own;  // our runnable threads
  double inside;  // runnable threads of others in the groups that can be seen
  double outside;  // all others
  double got;  // CPUs that the highest visible group gets, as it would be without its quota
  double own_got;  // and we
  double idle;
  bool no_groups;  // all others seem to share with us by thread: each runnable thread gets the same
  bool hidden_quota;  // a group that cannot be seen seems to be held back: we wait although CPUs are idle
} view;

static view look_around(const sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  const sukima_capacity_load* load = &all->load;
  view seen = {.cpus = fmin(all->facts.cap, cap_machine_cpus(all)), .own = fmax(load->wanted, load->now)};
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number != 0 && !task->own) seen.inside += cap_task_wanted(followed, task, all->long_ns);
  }
  seen.outside = isnan(load->running) ? 0 : fmax(0, load->running - seen.own - seen.inside);
  seen.idle = isnan(load->idle) ? 0 : fmin(load->idle, seen.cpus);
  seen.own_got = unthrottled(load);
  seen.got = seen.own_got;
  if (followed->path_length != 0 && followed->groups[followed->path[0]].has_usage && seen.inside > 0) {
    double use = cap_group_use(followed, &followed->groups[followed->path[0]], all->long_ns);
    seen.got = fmax(seen.got, load->throttled < 0.95 ? use / (1 - load->throttled) : use);
  }
  double threads = seen.own + seen.inside;
  // Where the highest visible group is not the machine's, those outside of it are in other groups, or beside
  // it as a whole: never as our threads are. (Without its files it may be the machine's.)
  bool are_outside = all->facts.ancestors_hidden != 0 && followed->path_length != 0 &&
                     followed->groups[followed->path[0]].has_usage;
  if (threads > 0 && seen.got > 0 && !are_outside) {
    double expected = fmin(threads, seen.cpus * threads / (threads + seen.outside));
    seen.no_groups = fabs(expected - seen.got) <= believable * seen.got;
  }
  static const double much = 0.3;
  seen.hidden_quota =
      load->waiting > much && seen.idle > much && seen.outside + threads < seen.cpus + seen.own;
  return seen;
}

// CPUs for the highest visible group if we had so many threads.
static double guess_for_group(const view* seen, double threads) {
  double wanted = threads + seen->inside;
  double before = seen->own + seen->inside;
  double alone = fmin(wanted, seen->cpus * wanted / (wanted + seen->outside));
  if (seen->no_groups || before < 0.1) return alone;
  double same = fmin(wanted, seen->got);
  if (wanted <= before || seen->hidden_quota) return same;
  return fmax(same, fmin(wanted, seen->got + seen->idle));
}

static void predict_blind(sukima_capacity_estimator* all, double threads, sukima_capacity_estimate* result) {
  const view seen = look_around(all);
  bool host_limits = all->load.host_cpus <= cap_machine_cpus(all);
  result->basis = host_limits ? SUKIMA_CAPACITY_BASIS_HOST : SUKIMA_CAPACITY_BASIS_BLIND;
  double guess = guess_for_group(&seen, threads);
  if (seen.inside > 0.05 && all->followed.path_length != 0) {  // they get a part of it
    const question asked = {.threads = threads,
                            .window_ns = all->long_ns,
                            .has_backlog = threads < all->load.wanted - 0.1,
                            .cpus = guess,
                            .each = 1};
    guess = share_in_tree(all, &asked);
  }
  result->usable = fmin(threads, guess);
  // It does nothing, or gets hardly anything: what it would get is unknown.
  if (seen.own < 0.1 || seen.own_got < 0.05) {
    result->low = seen.hidden_quota ? 0 : fmin(threads, seen.idle);
    result->high = fmin(threads, seen.cpus);
  } else if (threads >= seen.own) {
    result->low = seen.hidden_quota ? seen.own_got : fmax(seen.own_got, fmin(threads, seen.idle));
    result->high = fmin(seen.own_got * threads / seen.own, seen.cpus);
  } else {
    result->low = seen.own_got * threads / seen.own;
    result->high = fmin(threads, seen.own_got);
  }
  result->low *= 1 - slack;
  result->high *= 1 + slack;
}

static bool is_valid(const sukima_capacity_estimator* all, const cap_experiment* experiment) {
  uint64_t now = cap_follow_at(&all->followed, all->followed.sample)->time_ns;
  if (!(experiment->threads > 0) || now - experiment->time_ns > experiment_age_ns) return false;
  double others = isnan(all->load.others) ? 0 : all->load.others;
  // A change below a tenth of a CPU is none; and our own share changes the others' use: so the sum counts.
  double now_total = others + all->load.now;
  double then_total = experiment->others + experiment->got;
  return fabs(now_total - then_total) <= experiment_change * fmax(then_total, 0.5);
}

// An experiment bounds other numbers: more threads never get less, and never more for each of them.
static void apply_experiments(const sukima_capacity_estimator* all, double threads,
                              sukima_capacity_estimate* result) {
  for (int i = 0; i < cap_experiment_count; i++) {
    const cap_experiment* experiment = &all->experiments[i];
    if (!is_valid(all, experiment)) continue;
    if (fabs(experiment->threads - threads) < 0.01) {
      result->usable = experiment->got;
      result->low = experiment->got * (1 - 2 * slack);
      result->high = experiment->got * (1 + 2 * slack);
      result->basis = SUKIMA_CAPACITY_BASIS_EXPERIMENT;
      return;
    }
    double same_each = experiment->got * threads / experiment->threads;
    result->low = fmax(result->low, fmin(experiment->got, same_each) * (1 - 2 * slack));
    result->high = fmin(result->high, fmax(experiment->got, same_each) * (1 + 2 * slack));
    if (result->low > result->high) result->low = result->high;
  }
}

static bool blocks_often(const sukima_capacity_load* load) {
  return load->now > 0.05 && load->slice_seconds < shortest_slice_seconds &&
         load->wanted < 0.9 * ceil(load->wanted - 0.02);
}

void sukima_capacity_estimator_usable(sukima_capacity_estimator* all, double threads,
                                      sukima_capacity_estimate* result) {
  const sukima_capacity_facts* facts = &all->facts;
  if (!(threads > 0)) threads = facts->cap;
  double most = fmin(threads, facts->usable);
  *result = (sukima_capacity_estimate){
      .usable = most, .low = 0, .high = most, .threads = threads, .basis = SUKIMA_CAPACITY_BASIS_FACTS};
  if (facts->binding == SUKIMA_CAPACITY_OVERRIDE) {
    result->low = most;
    result->basis = SUKIMA_CAPACITY_BASIS_OVERRIDE;
    return;
  }
  if (!(all->load.seconds > 0)) return;
  if (all->followed.tree_visible) {
    predict_tree(all, threads, result);
  } else {
    predict_blind(all, threads, result);
    apply_experiments(all, threads, result);
  }
  if (blocks_often(&all->load)) result->basis = SUKIMA_CAPACITY_BASIS_PROGRESS;
  double least = fmin(0.001, most);  // the scheduler starves nobody
  result->high = fmax(least, fmin(result->high, most));
  result->low = fmax(least, fmin(result->low, result->high));
  result->usable = fmax(result->low, fmin(result->usable, result->high));
}
