// SPDX-License-Identifier: Apache-2.0
// Reading the counters of all that is watched, and rates of them.
#define _GNU_SOURCE
#include "watch.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "file.h"

void sukima_watch_clear(sukima_watch* watch) {
  watch->stat_descriptor = -1;
  watch->running_descriptor = -1;
  watch->pressure_descriptor = -1;
  watch->group_pressure_descriptor = -1;
}

static int open_kept(sukima_watch* watch, sukima_reader* reader, const char* path) {
  if (!sukima_make_path(reader, path, "", "")) return -1;
  int descriptor = sukima_file_open(reader->path);
  if (descriptor >= 0) watch->open_files++;
  return descriptor;
}

// The kernel's number of another process's CPU clock: the complement of its number, and 2 for CPU time.
static clockid_t clock_of(pid_t pid) { return (clockid_t)((~(unsigned)pid << 3) | 2U); }

void sukima_watch_open(sukima_watch* watch, sukima_reader* reader) {
  watch->stat_descriptor = open_kept(watch, reader, "/proc/stat");
  watch->running_descriptor = open_kept(watch, reader, "/proc/loadavg");
  watch->pressure_descriptor = open_kept(watch, reader, "/proc/pressure/cpu");
  watch->has_own_clock = reader->root[0] == '\0';
  watch->own_clock = reader->pid == 0 ? CLOCK_PROCESS_CPUTIME_ID : clock_of(reader->pid);
}

static void close_kept(int* descriptor) {
  if (*descriptor >= 0) sukima_file_close(*descriptor);
  *descriptor = -1;
}

void sukima_watch_close(sukima_watch* watch) {
  close_kept(&watch->stat_descriptor);
  close_kept(&watch->running_descriptor);
  close_kept(&watch->pressure_descriptor);
  close_kept(&watch->group_pressure_descriptor);
  for (int i = 0; i < watch->group_end; i++) {
    close_kept(&watch->groups[i].descriptor);
    close_kept(&watch->groups[i].stat_descriptor);
  }
  for (int i = 0; i < watch->task_end; i++) close_kept(&watch->tasks[i].descriptor);
  watch->open_files = 0;
}

// Reads what fits into the memory: the first line of /proc/stat is enough.
static bool read_kept(sukima_watch* watch, int descriptor, size_t size, sukima_text* content) {
  if (descriptor < 0) return false;
  long count = sukima_file_read_again(descriptor, watch->line_memory, size);
  if (count <= 0) return false;
  *content = (sukima_text){watch->line_memory, watch->line_memory + count};
  return true;
}

static void sample_machine(sukima_watch* watch, uint64_t time_ns) {
  static const uint64_t pause_ns = 450000000;
  const sukima_slow_moment* before = &watch->slow[watch->slow_sample % sukima_slow_count];
  if (watch->slow_sample != 0 && time_ns - before->time_ns < pause_ns) return;
  watch->slow_sample++;
  sukima_slow_moment* now = &watch->slow[watch->slow_sample % sukima_slow_count];
  *now = *before;  // what cannot be read does not move
  now->time_ns = time_ns;
  sukima_text content;
  watch->has_stat = read_kept(watch, watch->stat_descriptor, 1024, &content) &&
                    sukima_parse_machine_stat(content, &now->machine);
  watch->has_pressure = read_kept(watch, watch->pressure_descriptor, 512, &content) &&
                        sukima_parse_pressure(content, &now->pressure_us);
  watch->has_group_pressure = read_kept(watch, watch->group_pressure_descriptor, 512, &content) &&
                              sukima_parse_pressure(content, &now->group_pressure_us);
}

static uint64_t grown(uint64_t old, uint64_t new) { return new > old ? new - old : 0; }

sukima_machine_change sukima_watch_machine(const sukima_watch* watch, uint64_t window_ns) {
  uint64_t last = watch->slow_sample;
  const sukima_slow_moment* now = &watch->slow[last % sukima_slow_count];
  const sukima_slow_moment* old = now;
  for (uint64_t s = last - 1; s >= 1 && s < last && last - s < sukima_slow_count; s--) {
    old = &watch->slow[s % sukima_slow_count];
    if (now->time_ns - old->time_ns + window_ns / 10 >= window_ns) break;
  }
  double seconds = (double)(now->time_ns - old->time_ns) * 1e-9;
  if (!(seconds > 0)) return (sukima_machine_change){0};
  double each = 1e-6 / seconds;  // of microseconds
  return (sukima_machine_change){
      .seconds = seconds,
      .ticks = {grown(old->machine.busy, now->machine.busy), grown(old->machine.idle, now->machine.idle),
                grown(old->machine.stolen, now->machine.stolen)},
      .pressure = each * (double)grown(old->pressure_us, now->pressure_us),
      .group_pressure = each * (double)grown(old->group_pressure_us, now->group_pressure_us)};
}

static void sample_group(sukima_watch* watch, sukima_group* group, uint64_t at, uint64_t before) {
  sukima_text content;
  sukima_group_stat values = group->values[before];
  sukima_group_stat stat;
  if (read_kept(watch, group->descriptor, sizeof watch->line_memory, &content)) {
    if (!group->has_stat) {
      sukima_parse_count(content, &values.usage_ns);
    } else if (sukima_parse_group_stat(content, &stat)) {
      values = stat;
    }
  }
  if (group->stat_descriptor >= 0 &&
      read_kept(watch, group->stat_descriptor, sizeof watch->line_memory, &content) &&
      sukima_parse_group_stat(content, &stat)) {
    values.throttled_ns = stat.throttled_ns;
  }
  group->values[at] = values;
}

static void sample_task(sukima_watch* watch, sukima_reader* reader, sukima_task* task, uint64_t at,
                        uint64_t before) {
  sukima_text content;
  cap_schedstat stat = task->values[before];
  if (task->descriptor >= 0) {
    if (read_kept(watch, task->descriptor, 256, &content))
      cap_schedstat_parse(content.begin, sukima_text_length(&content), &stat);
  } else if (sukima_make_task_path(reader, task->own, task->number, "/schedstat") &&
             sukima_file_read(reader->path, watch->line_memory, sizeof watch->line_memory, &content) ==
                 sukima_file_read_ok) {
    cap_schedstat_parse(content.begin, sukima_text_length(&content), &stat);
  }
  task->values[at] = stat;
}

void sukima_watch_sample(sukima_watch* watch, sukima_reader* reader, uint64_t time_ns) {
  uint64_t before = watch->sample % sukima_ring_size;
  watch->sample++;
  uint64_t at = watch->sample % sukima_ring_size;
  sukima_moment* now = sukima_watch_now(watch);
  *now = watch->moments[before];  // what cannot be read does not move
  now->time_ns = time_ns;
  struct timespec used;
  if (watch->has_own_clock && clock_gettime(watch->own_clock, &used) == 0) {
    now->own_ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
  }
  for (int i = 0; i < watch->task_end; i++) {
    sukima_task* task = &watch->tasks[i];
    if (task->number == 0) continue;
    // A neighbour's use is known from its group; how many of its threads wait may be half a second old.
    bool beside = !task->own && watch->groups[task->group].has_usage && !watch->groups[task->group].on_path;
    if (beside && (watch->sample + (uint64_t)i) % sukima_patience != 0) {
      task->values[at] = task->values[before];
      continue;
    }
    sample_task(watch, reader, task, at, before);
    // A recorded tree has no clock: the threads' times stand for it. A thread's first value is no progress.
    uint64_t old = task->values[before].run_ns;
    if (!watch->has_own_clock && task->own && task->since < watch->sample && task->values[at].run_ns > old) {
      now->own_ns += task->values[at].run_ns - old;
    }
  }
  for (int i = 0; i < watch->group_end; i++) {
    if (watch->groups[i].key != 0) sample_group(watch, &watch->groups[i], at, before);
  }
  sukima_text content;
  watch->has_running = read_kept(watch, watch->running_descriptor, 256, &content) &&
                       sukima_parse_running(content, &now->running);
  sample_machine(watch, time_ns);
}

sukima_moment* sukima_watch_now(sukima_watch* watch) {
  return &watch->moments[watch->sample % sukima_ring_size];
}

const sukima_moment* sukima_watch_at(const sukima_watch* watch, uint64_t sample) {
  return &watch->moments[sample % sukima_ring_size];
}

uint64_t sukima_watch_back(const sukima_watch* watch, uint64_t window_ns, uint64_t since) {
  uint64_t last = watch->sample;
  uint64_t oldest = last >= sukima_ring_size ? last - sukima_ring_size + 1 : 1;
  if (since > oldest) oldest = since;
  uint64_t now = sukima_watch_at(watch, last)->time_ns;
  uint64_t best = last;
  uint64_t best_error = UINT64_MAX;
  for (uint64_t s = last; s-- > oldest;) {
    uint64_t span = now - sukima_watch_at(watch, s)->time_ns;
    uint64_t error = span > window_ns ? span - window_ns : window_ns - span;
    if (error > best_error) break;  // spans only grow
    best = s;
    best_error = error;
  }
  return best;
}

double sukima_watch_seconds(const sukima_watch* watch, uint64_t from) {
  return (double)(sukima_watch_at(watch, watch->sample)->time_ns - sukima_watch_at(watch, from)->time_ns) *
         1e-9;
}

double sukima_watch_rate(const sukima_watch* watch, uint64_t from, uint64_t old, uint64_t new) {
  double seconds = sukima_watch_seconds(watch, from);
  return seconds > 0 && new > old ? (double)(new - old) * 1e-9 / seconds : 0;
}

double sukima_own_use(const sukima_watch* watch, uint64_t window_ns) {
  uint64_t from = sukima_watch_back(watch, window_ns, 1);
  return sukima_watch_rate(watch, from, sukima_watch_at(watch, from)->own_ns,
                           sukima_watch_at(watch, watch->sample)->own_ns);
}

sukima_task_rates sukima_task_rates_in(const sukima_watch* watch, const sukima_task* task,
                                       uint64_t window_ns) {
  uint64_t from = sukima_watch_back(watch, window_ns, task->since);
  const cap_schedstat* old = &task->values[from % sukima_ring_size];
  const cap_schedstat* new = &task->values[watch->sample % sukima_ring_size];
  return (sukima_task_rates){sukima_watch_rate(watch, from, old->run_ns, new->run_ns),
                             sukima_watch_rate(watch, from, old->wait_ns, new->wait_ns),
                             1e9 * sukima_watch_rate(watch, from, old->slices, new->slices)};
}

double sukima_task_use(const sukima_watch* watch, const sukima_task* task, uint64_t window_ns) {
  return fmin(1, sukima_task_rates_in(watch, task, window_ns).run);
}

double sukima_task_wanted(const sukima_watch* watch, const sukima_task* task, uint64_t window_ns) {
  const sukima_task_rates rates = sukima_task_rates_in(watch, task, window_ns);
  return fmin(1, rates.run + rates.wait);
}

double sukima_group_use(const sukima_watch* watch, const sukima_group* group, uint64_t window_ns) {
  if (group->has_usage) {
    uint64_t from = sukima_watch_back(watch, window_ns, group->since);
    return sukima_watch_rate(watch, from, group->values[from % sukima_ring_size].usage_ns,
                             group->values[watch->sample % sukima_ring_size].usage_ns);
  }
  double use = 0;
  int index = (int)(group - watch->groups);
  for (int i = 0; i < watch->task_end; i++) {
    const sukima_task* task = &watch->tasks[i];
    if (task->number != 0 && task->group == index) use += sukima_task_use(watch, task, window_ns);
  }
  return use;
}

double sukima_direct_use(const sukima_watch* watch, uint32_t level, uint64_t window_ns) {
  const sukima_group* group = &watch->groups[watch->path[level]];
  if (!group->has_usage) return NAN;
  double use = sukima_group_use(watch, group, window_ns);
  for (int i = 0; i < watch->group_end; i++) {
    const sukima_group* below = &watch->groups[i];
    if (below->key != 0 && below->level == level + 1) use -= sukima_group_use(watch, below, window_ns);
  }
  if (level + 1 == watch->path_length) use -= sukima_own_use(watch, window_ns);
  return use > 0 ? use : 0;
}
