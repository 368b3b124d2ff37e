// SPDX-License-Identifier: Apache-2.0
// The estimator: opening, sampling, trials.
#define _GNU_SOURCE
#include "estimator.h"

#include <errno.h>
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "tree.h"

enum {
  facts_every_ns = 1000000000,
  scans_every_ns = 500000000,     // at most so often
  second_scan_after_ns = 150000000,  // then it is known for the first time whose counters move
  settle_ns = 100000000,          // a trial's first part, which does not count
  least_trial_ns = 200000000
};
// Looking for neighbours takes at most this part of a CPU, whatever there is to look at.
static const double most_scan_cost = 0.0002;
// So much use by threads that nobody knows starts a search at once.
static const double suspicious_use = 0.1;

static uint64_t nanoseconds_of(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void read_own_weight(sukima_watch* watch, sukima_reader* reader) {
  watch->own_nice = 0;
  watch->own_weight = 1;
  sukima_task_stat stat;
  sukima_text content;
  if (!sukima_make_process_path(reader, "/stat") ||
      sukima_file_read(reader->path, watch->line_memory, sizeof watch->line_memory, &content) !=
          sukima_file_read_ok ||
      !sukima_parse_task_stat(content, &stat)) {
    return;
  }
  enum { policy_idle = 5 };
  watch->own_nice = stat.nice;
  watch->own_weight = stat.policy == policy_idle ? sukima_idle_weight() : sukima_nice_weight(stat.nice);
}

static void read_facts(sukima_capacity_estimator* all, uint64_t time_ns) {
  sukima_capacity_facts before = all->facts;
  sukima_reader_read(&all->reader, &all->facts);
  all->facts.generation = before.generation;
  if (!sukima_same_facts(&before, &all->facts)) all->facts.generation++;
  if (all->discoveries != all->reader.discoveries) {
    sukima_watch_find_tree(&all->watch, &all->reader);
    all->discoveries = all->reader.discoveries;
  }
  if (before.generation != all->facts.generation) all->load.cores = sukima_count_cores(&all->reader);
  read_own_weight(&all->watch, &all->reader);
  sukima_host_read(&all->host, &all->reader, time_ns);
  all->next_facts_ns = time_ns + facts_every_ns;
}

static void scan(sukima_capacity_estimator* all, uint64_t time_ns) {
  sukima_watch_scan(&all->watch, &all->reader);
  uint64_t pause = (uint64_t)((double)all->watch.scan_cost_ns / most_scan_cost);
  all->watch.next_scan_ns = time_ns + (pause > scans_every_ns ? pause : scans_every_ns);
  if (all->watch.scan == 1) all->watch.next_scan_ns = time_ns + second_scan_after_ns;
}

// Threads of groups of ours that nobody watches have begun to use CPU.
static bool is_suspicious(const sukima_capacity_estimator* all) {
  const sukima_watch* watch = &all->watch;
  for (uint32_t level = 0; level < watch->path_length; level++) {
    double use = sukima_direct_use(watch, level, all->short_ns);
    if (!(use > suspicious_use)) continue;
    for (int i = 0; i < watch->task_end; i++) {
      const sukima_task* task = &watch->tasks[i];
      if (task->number == 0 || task->own || task->group != watch->path[level]) continue;
      use -= sukima_task_use(watch, task, all->short_ns);
    }
    if (use > suspicious_use) return true;
  }
  return false;
}

static void take_sample(sukima_capacity_estimator* all, uint64_t time_ns) {
  sukima_watch* watch = &all->watch;
  uint64_t started = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  if (time_ns == 0) time_ns = nanoseconds_of(CLOCK_MONOTONIC);
  if (watch->sample != 0 && time_ns <= sukima_watch_now(watch)->time_ns) return;
  sukima_watch_sample(watch, &all->reader, time_ns);
  sukima_watch_now(watch)->spent_ns = all->spent_ns;
  if (time_ns >= all->next_facts_ns) read_facts(all, time_ns);
  sukima_measure(all);
  // A search that has just been made need not be made again, and a costly one not often.
  bool soon = watch->scan_cost_ns < 1000000 && watch->sample > watch->scan_sample + 1 && is_suspicious(all);
  if (time_ns >= watch->next_scan_ns || soon) scan(all, time_ns);
  all->spent_ns += nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - started;
}

sukima_capacity_estimator* sukima_capacity_estimator_open(const sukima_capacity_options* options) {
  int saved = errno;
  sukima_capacity_estimator* all = sukima_allocate(sizeof *all);
  if (all != NULL && sukima_reader_set(&all->reader, options) != 0) {
    sukima_release(all, sizeof *all);
    all = NULL;
  }
  if (all != NULL) {
    sukima_watch_clear(&all->watch);
    sukima_watch_open(&all->watch, &all->reader);
    sukima_host_open(&all->host, &all->reader);
    sukima_reader_read(&all->reader, &all->facts);
    all->facts.generation = 1;
    all->load.cores = sukima_count_cores(&all->reader);
  }
  errno = saved;
  return all;
}

void sukima_capacity_estimator_close(sukima_capacity_estimator* all) {
  int saved = errno;
  if (all != NULL) {
    sukima_watch_close(&all->watch);
    sukima_host_close(&all->host);
    sukima_release(all, sizeof *all);
  }
  errno = saved;
}

void sukima_capacity_estimator_sample(sukima_capacity_estimator* all, uint64_t time_ns) {
  int saved = errno;
  take_sample(all, time_ns);
  errno = saved;
}

void sukima_capacity_estimator_facts(const sukima_capacity_estimator* all, sukima_capacity_facts* facts) {
  *facts = all->facts;
}

void sukima_capacity_estimator_load(const sukima_capacity_estimator* all, sukima_capacity_load* load) {
  *load = all->load;
}

const char* sukima_capacity_estimator_error(const sukima_capacity_estimator* all) {
  return all->reader.error[0] != '\0' ? all->reader.error : NULL;
}

static uint64_t latest_time(const sukima_capacity_estimator* all) {
  return sukima_watch_at(&all->watch, all->watch.sample)->time_ns;
}

void sukima_capacity_estimator_trial_begin(sukima_capacity_estimator* all, double threads) {
  all->running = (sukima_trial){.threads = threads, .time_ns = latest_time(all)};
}

int sukima_capacity_estimator_trial_end(sukima_capacity_estimator* all, sukima_capacity_estimate* estimate) {
  sukima_trial* trial = &all->running;
  if (!(trial->threads > 0)) return EINVAL;
  uint64_t now = latest_time(all);
  uint64_t spent = now - trial->time_ns;
  if (spent < settle_ns + least_trial_ns - least_trial_ns / 10) return EAGAIN;
  uint64_t window = spent - settle_ns;
  if (window > all->long_ns) window = window / all->long_ns * all->long_ns;
  trial->got = fmin(sukima_own_use(&all->watch, window), all->facts.cap);
  trial->others = isnan(all->load.others) ? 0 : all->load.others;
  trial->time_ns = now;
  // It takes the place of an earlier one with as many threads, or of the oldest.
  sukima_trial* place = &all->trials[0];
  for (int i = 0; i < sukima_trial_count; i++) {
    sukima_trial* other = &all->trials[i];
    if (fabs(other->threads - trial->threads) < 0.01) {
      place = other;
      break;
    }
    if (other->time_ns < place->time_ns) place = other;
  }
  *place = *trial;
  trial->threads = 0;
  if (estimate != NULL) sukima_capacity_estimator_usable(all, place->threads, estimate);
  return 0;
}

// syscall() and not clock_nanosleep(), which is a cancellation point.
static void pause_until(uint64_t time_ns) {
  struct timespec until = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};
  while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0 && errno == EINTR) {
  }
}

int sukima_capacity_estimate_once(const sukima_capacity_options* options, double threads, double seconds,
                                  sukima_capacity_estimate* estimate) {
  static const uint64_t step_ns = 100000000;
  int saved = errno;
  int result = 0;
  sukima_capacity_estimator* all = sukima_capacity_estimator_open(options);
  if (all == NULL) {
    sukima_capacity_facts facts;
    result = sukima_capacity_read(options, &facts);
    double most = threads > 0 ? fmin(threads, facts.usable) : facts.usable;
    *estimate = (sukima_capacity_estimate){most, 0, most, threads > 0 ? threads : facts.cap,
                                           SUKIMA_CAPACITY_BASIS_FACTS};
    if (result == 0) result = ENOMEM;
  } else {
    uint64_t start = nanoseconds_of(CLOCK_MONOTONIC);
    uint64_t end = start + (seconds > 0 ? (uint64_t)(fmin(seconds, 3600) * 1e9) : 0);
    sukima_capacity_estimator_sample(all, start);
    for (uint64_t next = start + step_ns; next <= end; next += step_ns) {
      pause_until(next);
      sukima_capacity_estimator_sample(all, 0);
    }
    sukima_capacity_estimator_usable(all, threads, estimate);
    if (sukima_capacity_estimator_error(all) != NULL) result = EINVAL;
    sukima_capacity_estimator_close(all);
  }
  errno = saved;
  return result;
}

const char* sukima_capacity_basis_name(sukima_capacity_basis basis) {
  static const char* const names[] = {"facts", "tree", "blind", "trial", "host", "override", "progress"};
  return (unsigned)basis < sizeof names / sizeof names[0] ? names[basis] : "unknown";
}
