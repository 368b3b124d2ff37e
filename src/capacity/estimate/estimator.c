// SPDX-License-Identifier: Apache-2.0
// The estimator: opening, sampling, experiments.
#define _GNU_SOURCE
#include "estimate/estimator.h"

#include <errno.h>
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "follow/group_path.h"
#include "text/file.h"

enum {
  facts_every_ns = 1000000000,
  searches_every_ns = 500000000,     // the shortest time between two searches
  second_search_after_ns = 150000000,  // the earliest search that can detect which counters change
  settle_ns = 100000000,          // the first part of an experiment, which does not count
  least_experiment_ns = 200000000
};
// Searches for neighbours use at most this part of a CPU, however many neighbours there are.
static const double most_search_cost = 0.0002;
// If threads that are not followed use more than this, a search starts at once.
static const double suspicious_use = 0.1;

static uint64_t nanoseconds_of(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void read_own_weight(cap_followed* followed, cap_reader* reader) {
  followed->own_nice = 0;
  followed->own_weight = 1;
  cap_task_stat stat;
  cap_text content;
  if (!cap_make_process_path(reader, "/stat") ||
      cap_file_read(reader->path, followed->line_memory, sizeof followed->line_memory, &content) !=
          cap_file_read_ok ||
      !cap_parse_task_stat(content, &stat)) {
    return;
  }
  followed->own_nice = stat.nice;
  followed->own_weight = cap_thread_weight(stat.policy, stat.nice);
}

static void read_facts(sukima_capacity_estimator* all, uint64_t time_ns) {
  sukima_capacity_facts before = all->facts;
  cap_reader_read(&all->reader, &all->facts);
  all->facts.generation = before.generation;
  if (!cap_same_facts(&before, &all->facts)) all->facts.generation++;
  if (all->group_searches != all->reader.group_searches) {
    cap_find_group_path(&all->followed, &all->reader);
    all->group_searches = all->reader.group_searches;
  }
  if (before.generation != all->facts.generation) all->load.cores = cap_count_cores(&all->reader);
  read_own_weight(&all->followed, &all->reader);
  cap_host_read(&all->host, &all->reader, time_ns);
  all->next_facts_ns = time_ns + facts_every_ns;
}

static void find_neighbours(sukima_capacity_estimator* all, uint64_t time_ns) {
  cap_find_neighbours(&all->followed, &all->reader);
  uint64_t pause = (uint64_t)((double)all->followed.search_cost_ns / most_search_cost);
  all->followed.next_search_ns = time_ns + (pause > searches_every_ns ? pause : searches_every_ns);
  if (all->followed.search == 1) all->followed.next_search_ns = time_ns + second_search_after_ns;
}

// Whether threads in our groups that are not followed have begun to use CPU.
static bool is_suspicious(const sukima_capacity_estimator* all) {
  const cap_followed* followed = &all->followed;
  for (uint32_t level = 0; level < followed->path_length; level++) {
    double use = cap_direct_use(followed, level, all->short_ns);
    if (!(use > suspicious_use)) continue;
    for (int i = 0; i < followed->task_end; i++) {
      const cap_task* task = &followed->tasks[i];
      if (task->number == 0 || task->own || task->group != followed->path[level]) continue;
      use -= cap_task_use(followed, task, all->short_ns);
    }
    if (use > suspicious_use) return true;
  }
  return false;
}

static void take_sample(sukima_capacity_estimator* all, uint64_t time_ns) {
  cap_followed* followed = &all->followed;
  uint64_t started = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  if (time_ns == 0) time_ns = nanoseconds_of(CLOCK_MONOTONIC);
  if (followed->sample != 0 && time_ns <= cap_follow_now(followed)->time_ns) return;
  cap_follow_sample(followed, &all->reader, time_ns);
  if (all->running.time_ns == 0) all->running.time_ns = time_ns;  // begun before the first sample
  cap_follow_now(followed)->spent_ns = all->spent_ns;
  all->sampler = all->reader.root[0] == '\0' ? (uint64_t)syscall(SYS_gettid) : 0;
  if (time_ns >= all->next_facts_ns) read_facts(all, time_ns);
  cap_measure(all);
  // A search is not repeated right after another one, and a costly search is not made often.
  bool soon = followed->search_cost_ns < 1000000 && followed->sample > followed->search_sample + 1 &&
              is_suspicious(all);
  if (time_ns >= followed->next_search_ns || soon) find_neighbours(all, time_ns);
  all->spent_ns += nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - started;
}

sukima_capacity_estimator* sukima_capacity_estimator_open(const sukima_capacity_options* options) {
  int saved = errno;
  sukima_capacity_estimator* all = cap_allocate(sizeof *all);
  if (all != NULL && cap_reader_set(&all->reader, options) != 0) {
    cap_release(all, sizeof *all);
    all = NULL;
  }
  if (all != NULL) {
    cap_follow_clear(&all->followed);
    cap_follow_open(&all->followed, &all->reader);
    cap_host_open(&all->host, &all->reader);
    cap_reader_read(&all->reader, &all->facts);
    all->facts.generation = 1;
    all->load.cores = cap_count_cores(&all->reader);
  }
  errno = saved;
  return all;
}

void sukima_capacity_estimator_close(sukima_capacity_estimator* all) {
  int saved = errno;
  if (all != NULL) {
    cap_follow_close(&all->followed);
    cap_host_close(&all->host);
    cap_release(all, sizeof *all);
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
  return cap_follow_at(&all->followed, all->followed.sample)->time_ns;
}

void sukima_capacity_estimator_experiment_begin(sukima_capacity_estimator* all, double threads) {
  all->running = (cap_experiment){.threads = threads, .time_ns = latest_time(all)};
}

int sukima_capacity_estimator_experiment_end(sukima_capacity_estimator* all,
                                             sukima_capacity_estimate* estimate) {
  cap_experiment* experiment = &all->running;
  if (!(experiment->threads > 0)) return EINVAL;
  uint64_t now = latest_time(all);
  uint64_t spent = now - experiment->time_ns;
  if (spent < settle_ns + least_experiment_ns - least_experiment_ns / 10) return EAGAIN;
  uint64_t window = spent - settle_ns;
  if (window > all->long_ns) window = window / all->long_ns * all->long_ns;
  experiment->got = fmin(cap_own_use(&all->followed, window), all->facts.cap);
  experiment->others = isnan(all->load.others) ? 0 : all->load.others;
  experiment->time_ns = now;
  // The result replaces that of an experiment with the same number of threads, or the oldest one.
  cap_experiment* place = &all->experiments[0];
  for (int i = 0; i < cap_experiment_count; i++) {
    cap_experiment* other = &all->experiments[i];
    if (fabs(other->threads - experiment->threads) < 0.01) {
      place = other;
      break;
    }
    if (other->time_ns < place->time_ns) place = other;
  }
  *place = *experiment;
  experiment->threads = 0;
  if (estimate != NULL) sukima_capacity_estimator_usable(all, place->threads, estimate);
  return 0;
}

// Uses syscall() because clock_nanosleep() is a cancellation point.
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
  static const char* const names[] = {"facts", "tree", "blind", "experiment", "host", "override", "progress"};
  return (unsigned)basis < sizeof names / sizeof names[0] ? names[basis] : "unknown";
}
