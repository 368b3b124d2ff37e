// SPDX-License-Identifier: Apache-2.0
// Reads the counters of everything that is followed, and computes rates.
#define _GNU_SOURCE
#include "follow/follow.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "shared/assert.h"
#include "text/file.h"

void cap_follow_clear(cap_followed* followed) {
  followed->stat_descriptor = -1;
  followed->running_descriptor = -1;
  followed->pressure_descriptor = -1;
  followed->group_pressure_descriptor = -1;
}

#if defined(SUKIMA_ASSERTIONS)
static bool groups_are_valid(const cap_followed* followed, int* open) {
  if (followed->group_end < 0 || followed->group_end > cap_group_count) return false;
  if (followed->group_end != 0 && followed->groups[followed->group_end - 1].key == 0) return false;
  for (uint32_t level = 0; level < followed->path_length; level++) {
    int index = followed->path[level];
    if (index < 0 || index >= followed->group_end) return false;
    const cap_group* group = &followed->groups[index];
    if (group->key == 0 || !group->on_path || group->level != level) return false;
  }
  for (int i = 0; i < followed->group_end; i++) {
    const cap_group* group = &followed->groups[i];
    if (group->key == 0) continue;
    if (group->since > followed->sample || group->search > followed->search) return false;
    if (group->binding >= (int)followed->binding_count) return false;
    if (group->has_usage && group->descriptor < 0) return false;
    *open += (group->descriptor >= 0) + (group->stat_descriptor >= 0);
  }
  return true;
}

static bool tasks_are_valid(const cap_followed* followed, int* open) {
  if (followed->task_end < 0 || followed->task_end > cap_task_count) return false;
  if (followed->task_end != 0 && followed->tasks[followed->task_end - 1].number == 0) return false;
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number == 0) continue;
    bool has_group = task->group >= 0 && task->group < followed->group_end;
    if (!task->own && (!has_group || followed->groups[task->group].key == 0)) return false;
    if (task->since > followed->sample || task->search > followed->search) return false;
    if (task->binding >= (int)followed->binding_count) return false;
    *open += task->descriptor >= 0;
  }
  return true;
}

bool cap_follow_is_valid(const cap_followed* followed) {
  int open = (followed->stat_descriptor >= 0) + (followed->running_descriptor >= 0) +
             (followed->pressure_descriptor >= 0) + (followed->group_pressure_descriptor >= 0);
  return groups_are_valid(followed, &open) && tasks_are_valid(followed, &open) &&
         open == followed->open_files && followed->binding_count <= cap_binding_count;
}
#endif

static int open_kept(cap_followed* followed, cap_reader* reader, const char* path) {
  if (!cap_make_path(reader, path, "", "")) return -1;
  int descriptor = cap_file_open(reader->path);
  if (descriptor >= 0) followed->open_files++;
  return descriptor;
}

// The kernel's id of another process's CPU clock: the complement of the process's number, and 2 for CPU time.
static clockid_t clock_of(pid_t pid) { return (clockid_t)((~(unsigned)pid << 3) | 2U); }

void cap_follow_open(cap_followed* followed, cap_reader* reader) {
  followed->stat_descriptor = open_kept(followed, reader, "/proc/stat");
  followed->running_descriptor = open_kept(followed, reader, "/proc/loadavg");
  followed->pressure_descriptor = open_kept(followed, reader, "/proc/pressure/cpu");
  followed->has_own_clock = reader->root[0] == '\0';
  followed->own_clock = reader->pid == 0 ? CLOCK_PROCESS_CPUTIME_ID : clock_of(reader->pid);
}

static void close_kept(int* descriptor) {
  if (*descriptor >= 0) cap_file_close(*descriptor);
  *descriptor = -1;
}

void cap_follow_close(cap_followed* followed) {
  close_kept(&followed->stat_descriptor);
  close_kept(&followed->running_descriptor);
  close_kept(&followed->pressure_descriptor);
  close_kept(&followed->group_pressure_descriptor);
  for (int i = 0; i < followed->group_end; i++) {
    close_kept(&followed->groups[i].descriptor);
    close_kept(&followed->groups[i].stat_descriptor);
  }
  for (int i = 0; i < followed->task_end; i++) close_kept(&followed->tasks[i].descriptor);
  followed->open_files = 0;
}

// Reads as much as fits into the memory. Of /proc/stat, the first line is enough.
static bool read_kept(cap_followed* followed, int descriptor, size_t size, cap_text* content) {
  if (descriptor < 0) return false;
  long count = cap_file_read_again(descriptor, followed->line_memory, size);
  if (count <= 0) return false;
  *content = (cap_text){followed->line_memory, followed->line_memory + count};
  return true;
}

static void sample_machine(cap_followed* followed, uint64_t time_ns) {
  static const uint64_t pause_ns = 450000000;
  const cap_slow_moment* before = &followed->slow[followed->slow_sample % cap_slow_count];
  if (followed->slow_sample != 0 && time_ns - before->time_ns < pause_ns) return;
  CAP_ASSERT(followed->slow_sample == 0 || before->time_ns < time_ns, "time goes on between readings");
  followed->slow_sample++;
  cap_slow_moment* now = &followed->slow[followed->slow_sample % cap_slow_count];
  *now = *before;  // values that cannot be read stay unchanged
  now->time_ns = time_ns;
  cap_text content;
  followed->has_stat = read_kept(followed, followed->stat_descriptor, 1024, &content) &&
                       cap_parse_machine_stat(content, &now->machine);
  followed->has_pressure = read_kept(followed, followed->pressure_descriptor, 512, &content) &&
                           cap_parse_pressure(content, &now->pressure_us);
  followed->has_group_pressure = read_kept(followed, followed->group_pressure_descriptor, 512, &content) &&
                                 cap_parse_pressure(content, &now->group_pressure_us);
}

static uint64_t grown(uint64_t old, uint64_t new) { return new > old ? new - old : 0; }

cap_machine_change cap_follow_machine(const cap_followed* followed, uint64_t window_ns) {
  uint64_t last = followed->slow_sample;
  const cap_slow_moment* now = &followed->slow[last % cap_slow_count];
  const cap_slow_moment* old = now;
  for (uint64_t s = last - 1; s >= 1 && s < last && last - s < cap_slow_count; s--) {
    old = &followed->slow[s % cap_slow_count];
    if (now->time_ns - old->time_ns + window_ns / 10 >= window_ns) break;
  }
  double seconds = (double)(now->time_ns - old->time_ns) * 1e-9;
  if (!(seconds > 0)) return (cap_machine_change){0};
  double each = 1e-6 / seconds;  // for counters in microseconds
  return (cap_machine_change){
      .seconds = seconds,
      .ticks = {grown(old->machine.busy, now->machine.busy), grown(old->machine.idle, now->machine.idle),
                grown(old->machine.stolen, now->machine.stolen)},
      .pressure = each * (double)grown(old->pressure_us, now->pressure_us),
      .group_pressure = each * (double)grown(old->group_pressure_us, now->group_pressure_us)};
}

static void sample_group(cap_followed* followed, cap_group* group, uint64_t at, uint64_t before) {
  cap_text content;
  cap_group_stat values = group->values[before];
  cap_group_stat stat;
  if (read_kept(followed, group->descriptor, sizeof followed->line_memory, &content)) {
    if (!group->has_stat) {
      cap_parse_count(content, &values.usage_ns);
    } else if (cap_parse_group_stat(content, &stat)) {
      values = stat;
    }
  }
  if (group->stat_descriptor >= 0 &&
      read_kept(followed, group->stat_descriptor, sizeof followed->line_memory, &content) &&
      cap_parse_group_stat(content, &stat)) {
    values.throttled_ns = stat.throttled_ns;
  }
  group->values[at] = values;
}

static void sample_task(cap_followed* followed, cap_reader* reader, cap_task* task, uint64_t at,
                        uint64_t before) {
  cap_text content;
  cap_schedstat stat = task->values[before];
  if (task->descriptor >= 0) {
    if (read_kept(followed, task->descriptor, 256, &content))
      cap_schedstat_parse(content.begin, cap_text_length(&content), &stat);
  } else if (cap_make_task_path(reader, task->own, task->number, "/schedstat") &&
             cap_file_read(reader->path, followed->line_memory, sizeof followed->line_memory, &content) ==
                 cap_file_read_ok) {
    cap_schedstat_parse(content.begin, cap_text_length(&content), &stat);
  }
  task->values[at] = stat;
}

void cap_follow_sample(cap_followed* followed, cap_reader* reader, uint64_t time_ns) {
  uint64_t before = followed->sample % cap_ring_size;
  followed->sample++;
  uint64_t at = followed->sample % cap_ring_size;
  cap_moment* now = cap_follow_now(followed);
  *now = followed->moments[before];  // values that cannot be read stay unchanged
  now->time_ns = time_ns;
  struct timespec used;
  if (followed->has_own_clock && clock_gettime(followed->own_clock, &used) == 0) {
    now->own_ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
  }
  for (int i = 0; i < followed->task_end; i++) {
    cap_task* task = &followed->tasks[i];
    if (task->number == 0) continue;
    // A neighbour's use is read from its group. Its threads are needed only for the number that waits, which
    // may be half a second old.
    bool beside =
        !task->own && followed->groups[task->group].has_usage && !followed->groups[task->group].on_path;
    if (beside && (followed->sample + (uint64_t)i) % cap_patience != 0) {
      task->values[at] = task->values[before];
      continue;
    }
    sample_task(followed, reader, task, at, before);
    // A recorded tree has no CPU clock, so use the sum of the threads' times. The first value of a thread is
    // not an increase.
    uint64_t old = task->values[before].run_ns;
    if (!followed->has_own_clock && task->own && task->since < followed->sample &&
        task->values[at].run_ns > old) {
      now->own_ns += task->values[at].run_ns - old;
    }
  }
  for (int i = 0; i < followed->group_end; i++) {
    if (followed->groups[i].key != 0) sample_group(followed, &followed->groups[i], at, before);
  }
  cap_text content;
  followed->has_running = read_kept(followed, followed->running_descriptor, 256, &content) &&
                          cap_parse_running(content, &now->running);
  sample_machine(followed, time_ns);
}

cap_moment* cap_follow_now(cap_followed* followed) {
  return &followed->moments[followed->sample % cap_ring_size];
}

const cap_moment* cap_follow_at(const cap_followed* followed, uint64_t sample) {
  return &followed->moments[sample % cap_ring_size];
}

uint64_t cap_follow_back(const cap_followed* followed, uint64_t window_ns, uint64_t since) {
  uint64_t last = followed->sample;
  uint64_t oldest = last >= cap_ring_size ? last - cap_ring_size + 1 : 1;
  if (since > oldest) oldest = since;
  uint64_t now = cap_follow_at(followed, last)->time_ns;
  uint64_t best = last;
  uint64_t best_error = UINT64_MAX;
  for (uint64_t s = last; s-- > oldest;) {
    uint64_t span = now - cap_follow_at(followed, s)->time_ns;
    uint64_t error = span > window_ns ? span - window_ns : window_ns - span;
    if (error > best_error) break;  // spans only grow
    best = s;
    best_error = error;
  }
  return best;
}

double cap_follow_seconds(const cap_followed* followed, uint64_t from) {
  return (double)(cap_follow_at(followed, followed->sample)->time_ns -
                  cap_follow_at(followed, from)->time_ns) *
         1e-9;
}

double cap_follow_rate(const cap_followed* followed, uint64_t from, uint64_t old, uint64_t new) {
  double seconds = cap_follow_seconds(followed, from);
  return seconds > 0 && new > old ? (double)(new - old) * 1e-9 / seconds : 0;
}

double cap_own_use(const cap_followed* followed, uint64_t window_ns) {
  uint64_t from = cap_follow_back(followed, window_ns, 1);
  return cap_follow_rate(followed, from, cap_follow_at(followed, from)->own_ns,
                         cap_follow_at(followed, followed->sample)->own_ns);
}

cap_task_rates cap_task_rates_in(const cap_followed* followed, const cap_task* task, uint64_t window_ns) {
  uint64_t from = cap_follow_back(followed, window_ns, task->since);
  const cap_schedstat* old = &task->values[from % cap_ring_size];
  const cap_schedstat* new = &task->values[followed->sample % cap_ring_size];
  return (cap_task_rates){cap_follow_rate(followed, from, old->run_ns, new->run_ns),
                          cap_follow_rate(followed, from, old->wait_ns, new->wait_ns),
                          1e9 * cap_follow_rate(followed, from, old->slices, new->slices)};
}

double cap_task_use(const cap_followed* followed, const cap_task* task, uint64_t window_ns) {
  return fmin(1, cap_task_rates_in(followed, task, window_ns).run);
}

double cap_task_wanted(const cap_followed* followed, const cap_task* task, uint64_t window_ns) {
  const cap_task_rates rates = cap_task_rates_in(followed, task, window_ns);
  return fmin(1, rates.run + rates.wait);
}

double cap_group_use(const cap_followed* followed, const cap_group* group, uint64_t window_ns) {
  if (group->has_usage) {
    uint64_t from = cap_follow_back(followed, window_ns, group->since);
    return cap_follow_rate(followed, from, group->values[from % cap_ring_size].usage_ns,
                           group->values[followed->sample % cap_ring_size].usage_ns);
  }
  double use = 0;
  int index = (int)(group - followed->groups);
  for (int i = 0; i < followed->task_end; i++) {
    const cap_task* task = &followed->tasks[i];
    if (task->number != 0 && task->group == index) use += cap_task_use(followed, task, window_ns);
  }
  return use;
}

double cap_direct_use(const cap_followed* followed, uint32_t level, uint64_t window_ns) {
  const cap_group* group = &followed->groups[followed->path[level]];
  if (!group->has_usage) return NAN;
  double use = cap_group_use(followed, group, window_ns);
  for (int i = 0; i < followed->group_end; i++) {
    const cap_group* below = &followed->groups[i];
    if (below->key != 0 && below->level == level + 1) use -= cap_group_use(followed, below, window_ns);
  }
  if (level + 1 == followed->path_length) use -= cap_own_use(followed, window_ns);
  return use > 0 ? use : 0;
}
