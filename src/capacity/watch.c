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

static void sample_machine(sukima_watch* watch, uint64_t at) {
  sukima_text content;
  sukima_machine_stat stat = {0};
  watch->has_stat =
      read_kept(watch, watch->stat_descriptor, 1024, &content) && sukima_parse_machine_stat(content, &stat);
  watch->busy_ticks[at] = stat.busy;
  watch->idle_ticks[at] = stat.idle;
  watch->stolen_ticks[at] = stat.stolen;
  uint64_t value = 0;
  watch->has_running =
      read_kept(watch, watch->running_descriptor, 256, &content) && sukima_parse_running(content, &value);
  watch->running[at] = value;
  value = 0;
  watch->has_pressure =
      read_kept(watch, watch->pressure_descriptor, 512, &content) && sukima_parse_pressure(content, &value);
  watch->pressure_us[at] = value;
  value = 0;
  watch->has_group_pressure = read_kept(watch, watch->group_pressure_descriptor, 512, &content) &&
                              sukima_parse_pressure(content, &value);
  watch->group_pressure_us[at] = value;
}

static void sample_group(sukima_watch* watch, sukima_group* group, uint64_t at, uint64_t before) {
  sukima_text content;
  uint64_t use = group->use_ns[before];
  uint64_t throttled = group->throttled_ns[before];
  sukima_group_stat stat;
  if (read_kept(watch, group->descriptor, sizeof watch->line_memory, &content)) {
    if (!group->has_stat) {
      sukima_parse_count(content, &use);
    } else if (sukima_parse_group_stat(content, &stat)) {
      use = stat.usage_ns;
      throttled = stat.throttled_ns;
    }
  }
  if (group->stat_descriptor >= 0 &&
      read_kept(watch, group->stat_descriptor, sizeof watch->line_memory, &content) &&
      sukima_parse_group_stat(content, &stat)) {
    throttled = stat.throttled_ns;
  }
  group->use_ns[at] = use;
  group->throttled_ns[at] = throttled;
}

static void sample_task(sukima_watch* watch, sukima_reader* reader, sukima_task* task, uint64_t at,
                        uint64_t before) {
  sukima_text content;
  sukima_schedstat stat = {task->run_ns[before], task->wait_ns[before], task->slices[before]};
  if (task->descriptor >= 0) {
    if (read_kept(watch, task->descriptor, 256, &content)) sukima_parse_schedstat(content, &stat);
  } else if (sukima_make_task_path(reader, task->own, task->number, "/schedstat") &&
             sukima_file_read(reader->path, watch->line_memory, sizeof watch->line_memory, &content) ==
                 sukima_file_read_ok) {
    sukima_parse_schedstat(content, &stat);
  }
  task->run_ns[at] = stat.run_ns;
  task->wait_ns[at] = stat.wait_ns;
  task->slices[at] = stat.slices;
}

void sukima_watch_sample(sukima_watch* watch, sukima_reader* reader, uint64_t time_ns) {
  uint64_t before = watch->sample % sukima_ring_size;
  watch->sample++;
  uint64_t at = watch->sample % sukima_ring_size;
  uint64_t own = watch->own_ns[before];
  struct timespec used;
  if (watch->has_own_clock && clock_gettime(watch->own_clock, &used) == 0) {
    own = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
  }
  watch->time_ns[at] = time_ns;
  for (int i = 0; i < watch->task_end; i++) {
    sukima_task* task = &watch->tasks[i];
    if (task->number == 0) continue;
    sample_task(watch, reader, task, at, before);
    // A recorded tree has no clock: the threads' times stand for it. A thread's first value is no progress.
    if (!watch->has_own_clock && task->own && task->since < watch->sample &&
        task->run_ns[at] > task->run_ns[before]) {
      own += task->run_ns[at] - task->run_ns[before];
    }
  }
  watch->own_ns[at] = own;
  for (int i = 0; i < watch->group_end; i++) {
    if (watch->groups[i].key != 0) sample_group(watch, &watch->groups[i], at, before);
  }
  sample_machine(watch, at);
}

uint64_t sukima_watch_back(const sukima_watch* watch, uint64_t window_ns, uint64_t since) {
  uint64_t last = watch->sample;
  uint64_t oldest = last >= sukima_ring_size ? last - sukima_ring_size + 1 : 1;
  if (since > oldest) oldest = since;
  uint64_t now = watch->time_ns[last % sukima_ring_size];
  uint64_t best = last;
  uint64_t best_error = UINT64_MAX;
  for (uint64_t s = last; s-- > oldest;) {
    uint64_t span = now - watch->time_ns[s % sukima_ring_size];
    uint64_t error = span > window_ns ? span - window_ns : window_ns - span;
    if (error > best_error) break;  // spans only grow
    best = s;
    best_error = error;
  }
  return best;
}

double sukima_watch_seconds(const sukima_watch* watch, uint64_t from) {
  return (double)(watch->time_ns[watch->sample % sukima_ring_size] -
                  watch->time_ns[from % sukima_ring_size]) *
         1e-9;
}

double sukima_watch_rate(const sukima_watch* watch, const uint64_t* ring, uint64_t window_ns,
                         uint64_t since) {
  uint64_t from = sukima_watch_back(watch, window_ns, since);
  double seconds = sukima_watch_seconds(watch, from);
  uint64_t old = ring[from % sukima_ring_size];
  uint64_t new = ring[watch->sample % sukima_ring_size];
  return seconds > 0 && new > old ? (double)(new - old) * 1e-9 / seconds : 0;
}

double sukima_task_use(const sukima_watch* watch, const sukima_task* task, uint64_t window_ns) {
  return fmin(1, sukima_watch_rate(watch, task->run_ns, window_ns, task->since));
}

double sukima_task_wanted(const sukima_watch* watch, const sukima_task* task, uint64_t window_ns) {
  return fmin(1, sukima_watch_rate(watch, task->run_ns, window_ns, task->since) +
                     sukima_watch_rate(watch, task->wait_ns, window_ns, task->since));
}

double sukima_group_use(const sukima_watch* watch, const sukima_group* group, uint64_t window_ns) {
  if (group->has_usage) return sukima_watch_rate(watch, group->use_ns, window_ns, group->since);
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
  if (level + 1 == watch->path_length) use -= sukima_watch_rate(watch, watch->own_ns, window_ns, 1);
  return use > 0 ? use : 0;
}
