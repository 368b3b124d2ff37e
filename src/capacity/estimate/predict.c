// SPDX-License-Identifier: Apache-2.0
// Predicts the CPU that k threads would get: computed from the tree of groups, or bounded if the tree is
// hidden.
#include <math.h>

#include "estimate/estimator.h"
#include "shared/assert.h"

// The error of the computed value in steady cases.
static const double slack = 0.05;
// The blind guess "no groups" is accepted if it matches our present CPU within this part.
static const double believable = 0.07;
// Results of experiments are valid for this time, unless the neighbours' use changes by more than this part.
static const uint64_t experiment_age_ns = 10000000000;
static const double experiment_change = 0.2;
// No model of fair sharing fits a thread that runs for less than this before it blocks.
static const double shortest_slice_seconds = 0.002;

double cap_machine_cpus(const sukima_capacity_estimator* all) {
  double online = all->facts.online != 0 ? all->facts.online : all->facts.cap;
  double cpus = online * (1 - all->load.stolen);
  return all->load.host_cpus < cpus ? all->load.host_cpus : cpus;  // false if host_cpus is NAN
}

// Our share of a part of the machine, the set all->part. Only neighbours that are bound to it count.
static double share_in_part(sukima_capacity_estimator* all, cap_question asked) {
  const cap_followed* followed = &all->followed;
  asked.is_partial = true;
  asked.within = 0;
  for (uint32_t i = 0; i < followed->binding_count; i++) {
    if (cap_cpu_set_is_inside(&followed->bindings[i], &all->part)) asked.within |= UINT32_C(1) << i;
  }
  asked.cpus = fmin(asked.cpus, cap_cpu_set_count(&all->part) * asked.each);
  return cap_share_of_demands(all, &asked);
}

// Whether our CPUs are fewer than the machine's, and their numbers are known.
static bool is_bound(const sukima_capacity_estimator* all) {
  return all->facts.cap < all->facts.online &&
         cap_cpu_set_is_inside(&all->reader.affinity, &all->reader.online);
}

// Threads that are bound to different CPUs compete to the extent that these overlap. In any part of the
// machine that contains our CPUs, we share with the threads that cannot leave that part. The part that leaves
// us the least decides. (The use of bound neighbours is the present one, which already includes how they
// hinder each other.) See Megiddo, Optimal flows in networks with multiple sources and sinks (1974), on
// lexicographic sharing.
static double share_in_machine(sukima_capacity_estimator* all, const cap_question* asked) {
  double least = cap_share_in_tree(all, asked);
  if (!is_bound(all)) return least;
  const cap_cpu_set* ours = &all->reader.affinity;
  const cap_followed* followed = &all->followed;
  cap_cpu_set_copy(&all->part, ours);
  least = fmin(least, share_in_part(all, *asked));
  for (uint32_t i = 0; i < followed->binding_count; i++) {
    const cap_cpu_set* other = &followed->bindings[i];
    if (cap_cpu_set_count_both(ours, other) == 0 || cap_cpu_set_is_inside(other, ours)) continue;
    cap_cpu_set_copy(&all->part, ours);
    cap_cpu_set_unite(&all->part, other);
    least = fmin(least, share_in_part(all, *asked));
  }
  return least;
}

// Bounds the CPU of other numbers of threads by the CPU that our threads get now: more threads never get less
// in total, and never more per thread. It compares three windows, because neighbours may just have begun or
// ended.
static void keep_to_now(const sukima_capacity_estimator* all, double threads,
                        sukima_capacity_estimate* result) {
  static const double least_known = 0.1;
  static const double margin = 2 * slack;
  // A group with a small weight gets its CPU in pieces, and a window may begin and end inside a piece.
  static const double piece_seconds = 0.02;
  const uint64_t windows[3] = {all->short_ns, all->long_ns, slow_window_ns};
  const sukima_capacity_load* load = &all->load;
  double ours = load->wanted;
  if (!(ours >= least_known) || load->now < least_known || !all->followed.has_tasks) return;
  double got_least = load->now;
  double got_most = load->now;
  for (int i = 0; i < 3; i++) {
    double scale = load->now / cap_own_use(&all->followed, all->long_ns);  // of the clock correction
    double got = cap_own_use(&all->followed, windows[i]) * scale;
    got_least = fmin(got_least, got);
    got_most = fmax(got_most, got);
  }
  double part = threads / ours;
  // Each thread also lacks what the hypervisor takes.
  double least = fmin(got_least * fmin(1, part), threads * fmin(1, 1 - load->stolen)) * (1 - margin);
  double most = got_most * fmax(1, part) * (1 + margin);
  if (threads < ours) most = fmin(threads, most);
  double noise = piece_seconds / load->seconds;
  double before = result->usable;
  if (before > least - noise && before < most + noise) return;
  result->usable = fmax(least, fmin(most, before));
  result->low = fmax(least, fmin(most, result->low));
  result->high = fmax(result->usable, fmin(most, result->high));
  if (fabs(before - result->usable) <= margin * result->usable) return;
  // The visible groups do not explain the CPU that we get.
  bool is_now = fabs(threads - ours) < 0.1 * fmax(1, ours);
  result->basis = is_now ? SUKIMA_CAPACITY_BASIS_EXPERIMENT : SUKIMA_CAPACITY_BASIS_BLIND;
}

static void predict_tree(sukima_capacity_estimator* all, double threads, sukima_capacity_estimate* result) {
  double each = fmin(1, 1 - all->load.stolen);
  cap_question asked = {.threads = threads,
                        .window_ns = all->long_ns,
                        .has_bursts = true,
                        .cpus = cap_machine_cpus(all),
                        .each = each};
  // With fewer threads than now, the neighbours get more, up to what they wait for now.
  asked.has_backlog = threads < all->load.wanted - 0.1;
  result->usable = share_in_machine(all, &asked);
  bool has_bursts = all->demands.has_bursts;
  result->low = result->usable;
  result->high = result->usable;
  const uint64_t windows[2] = {all->short_ns, slow_window_ns};
  for (int i = 0; i < 2; i++) {
    asked.window_ns = windows[i];
    double other = share_in_machine(all, &asked);
    result->low = fmin(result->low, other);
    result->high = fmax(result->high, other);
  }
  asked.window_ns = all->long_ns;
  if (has_bursts) {  // neighbours that come and go may need as much CPU as now, whatever we do
    asked.has_bursts = false;
    asked.window_ns = slow_window_ns;
    result->low = fmin(result->low, share_in_machine(all, &asked));
    asked.window_ns = all->long_ns;
  }
  // Neighbours with unknown masks may be bound to the same CPUs as we are.
  if (is_bound(all)) {
    asked.unknown_within = true;
    cap_cpu_set_copy(&all->part, &all->reader.affinity);
    cap_find_demands(all, &asked);
    result->low = fmin(result->low, share_in_part(all, asked));
  } else if (all->facts.cap < asked.cpus) {  // the numbers of our CPUs are also unknown
    asked.cpus = all->facts.cap;
    result->low = fmin(result->low, cap_share_in_tree(all, &asked));
  }
  CAP_ASSERT(result->low <= result->usable && result->usable <= result->high,
             "a prediction is within its bounds");
  result->low *= 1 - slack;
  result->high *= 1 + slack;
  bool host_limits = all->load.host_cpus <= cap_machine_cpus(all);
  result->basis = host_limits ? SUKIMA_CAPACITY_BASIS_HOST : SUKIMA_CAPACITY_BASIS_TREE;
  keep_to_now(all, threads, result);
}

// Our threads' share without a quota: they could run in the part 1 - throttled of the time.
static double unthrottled(const sukima_capacity_load* load) {
  return load->throttled < 0.95 ? load->now / (1 - load->throttled) : load->now;
}

// The visible facts if the neighbours' groups are hidden: the highest visible group, our threads and others
// in it, and the number of runnable threads of the machine.
typedef struct view {
  double cpus;  // CPUs on which our threads may run
  double own;  // our runnable threads
  double inside;  // runnable threads of others in the visible groups
  double outside;  // all other runnable threads
  double got;  // CPUs that the highest visible group would get without its quota
  double own_got;  // CPUs that we would get without it
  double idle;
  bool no_groups;  // all others seem to share with us by thread, so each runnable thread gets the same
  bool hidden_quota;  // a quota seems to throttle a hidden group: we wait although CPUs are idle
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
  // If the highest visible group is not the machine's root, threads outside it are in other groups, or
  // compete with it as a whole. They never compete with our threads one by one. (If the group has no files,
  // it may be the machine's root.)
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

bool cap_has_hidden_quota(const sukima_capacity_estimator* all) { return look_around(all).hidden_quota; }

double cap_unseen_use(const sukima_capacity_estimator* all) {
  static const double hardly_anything = 0.01;
  const cap_followed* followed = &all->followed;
  if (followed->tree_visible || isnan(all->load.others)) return 0;
  double use = all->load.others;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number != 0 && !task->own) use -= cap_task_use(followed, task, all->long_ns);
  }
  return use > hardly_anything ? use : 0;
}

// The CPUs for the highest visible group if we had this number of threads.
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
  if (seen.inside > 0.05 && all->followed.path_length != 0) {  // the others in the group get a part of it
    const cap_question asked = {.threads = threads,
                                .window_ns = all->long_ns,
                                .has_backlog = threads < all->load.wanted - 0.1,
                                .cpus = guess,
                                .each = 1};
    guess = cap_share_in_tree(all, &asked);
  }
  result->usable = fmin(threads, guess);
  // If the group is idle, or gets hardly any CPU, its share is unknown. Idle CPUs do not prove that it would
  // get more, because a hidden group may have a quota.
  if (seen.own < 0.1 || seen.own_got < 0.05) {
    result->low = 0;
    result->high = fmin(threads, seen.cpus);
  } else if (threads >= seen.own) {
    result->low = seen.own_got;
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
  // Ignore changes below a tenth of a CPU. Our own share changes the others' use, so compare the sums.
  double now_total = others + all->load.now;
  double then_total = experiment->others + experiment->got;
  return fabs(now_total - then_total) <= experiment_change * fmax(then_total, 0.5);
}

// An experiment bounds other numbers of threads: more threads never get less in total, and never more per
// thread.
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

// Whether threads that block after short slices do most of the work. It uses long windows, because the kernel
// counts a wait for a CPU only when it ends. The thread that takes the samples does not count, because it
// waits between them. A process that only measures, such as `sukima run` before it starts a program, has no
// other thread.
static bool blocks_often(const sukima_capacity_estimator* all) {
  static const double hardly_any = 0.05;
  const cap_followed* followed = &all->followed;
  double now = 0;
  double slices = 0;
  double run = 0;
  double run_by_blocking = 0;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0 || !task->own || task->number == all->sampler) continue;
    const cap_task_rates rates = cap_task_rates_in(followed, task, all->long_ns);
    now += rates.run;
    slices += rates.slices;
    double used = cap_task_use(followed, task, slow_window_ns);
    run += used;
    if (!cap_wants_always(cap_task_wanted(followed, task, slow_window_ns))) run_by_blocking += used;
  }
  return now > hardly_any && now < slices * shortest_slice_seconds && run_by_blocking > run / 2;
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
  if (blocks_often(all)) result->basis = SUKIMA_CAPACITY_BASIS_PROGRESS;
  double least = fmin(0.001, most);  // the scheduler starves no thread
  result->high = fmax(least, fmin(result->high, most));
  result->low = fmax(least, fmin(result->low, result->high));
  result->usable = fmax(result->low, fmin(result->usable, result->high));
}
