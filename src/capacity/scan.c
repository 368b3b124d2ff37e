// SPDX-License-Identifier: Apache-2.0
// Looking for neighbours: groups beside ours, and threads that use CPU.
//
// Thousands of groups and threads may exist of which a few use CPU. Of all of them the last value of their
// counter is kept, and only those whose counter has moved between two scans are watched in every sample.
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "file.h"
#include "fill.h"
#include "parse.h"
#include "tree.h"

enum {
  deepest_below = 4,  // so many levels, a neighbour's own included, are searched: entry_memory has as many
  most_directories = 32,  // of these
  groups_kept_free = 48,  // so many places for groups are left to those that use CPU
  idle_after_ns = 2000000000  // who has used no CPU for so long is not watched any longer
};

// Of two scans, this part of the time makes a group or thread worth watching.
static const double least_use = 0.003;
// Threads of a neighbour are looked at if it uses more than this.
static const double least_group_use = 0.02;
// Scheduling policies: see sched(7).
enum { policy_fifo = 1, policy_round_robin = 2, policy_idle = 5, policy_deadline = 6 };
// A thread of a real-time class goes before all others.
static const double real_time_weight = 1000;

static sukima_candidate* find_candidate(sukima_candidates* table, uint64_t key) {
  uint64_t at = key * 0x9e3779b97f4a7c15 >> 52;  // the upper 12 bits
  _Static_assert(sukima_candidate_count == 1 << 12, "the shift fits the size");
  for (uint32_t i = 0; i < 64; i++) {
    sukima_candidate* entry = &table->entries[(at + i) % sukima_candidate_count];
    if (entry->key == key || entry->key == 0) return entry;
  }
  return NULL;
}

// Keeps the value for the next scan. Returns how much it has grown since the one before, -1 if it is new.
static double compare(sukima_watch* watch, uint64_t key, uint64_t value) {
  sukima_candidate* now = find_candidate(&watch->candidates[watch->scan % 2], key);
  sukima_candidate* before = find_candidate(&watch->candidates[(watch->scan + 1) % 2], key);
  if (now != NULL) *now = (sukima_candidate){key, value};
  if (before == NULL || before->key != key) return -1;
  return value > before->value ? (double)(value - before->value) * 1e-9 : 0;
}

static double seconds_since_scan(const sukima_watch* watch, uint64_t before) {
  return before != 0 && watch->sample - before < sukima_ring_size ? sukima_watch_seconds(watch, before) : 1;
}

static bool is_own(const sukima_watch* watch, uint64_t number) {
  uint32_t low = 0;
  uint32_t high = watch->own_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (watch->own_numbers[middle] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < watch->own_count && watch->own_numbers[low] == number;
}

static bool read_of_task(sukima_watch* watch, sukima_reader* reader, bool own, uint64_t number,
                         const char* name, sukima_text* content) {
  return sukima_make_task_path(reader, own, number, name) &&
         sukima_file_read(reader->path, watch->line_memory, sizeof watch->line_memory, content) ==
             sukima_file_read_ok;
}

static double weight_of(const sukima_task_stat* stat) {
  if (stat->policy == policy_idle) return sukima_idle_weight();
  if (stat->policy == policy_fifo || stat->policy == policy_round_robin || stat->policy == policy_deadline) {
    return real_time_weight;
  }
  return sukima_nice_weight(stat->nice);
}

static void add_task(sukima_watch* watch, sukima_reader* reader, uint32_t number, int group, bool own,
                     const cap_schedstat* values) {
  int index = 0;
  while (index < watch->task_end && watch->tasks[index].number != 0) index++;
  if (index == sukima_task_count) return;
  if (index == watch->task_end) watch->task_end++;
  sukima_task* task = &watch->tasks[index];
  memset(task, 0, sizeof *task);
  task->number = number;
  task->group = group;
  task->own = own;
  task->weight = 1;
  task->session_weight = 1;
  task->since = watch->sample;
  task->scan = watch->scan;
  sukima_text content;
  sukima_task_stat stat;
  if (read_of_task(watch, reader, own, number, "/stat", &content) && sukima_parse_task_stat(content, &stat)) {
    task->weight = weight_of(&stat);
  }
  int nice = 0;
  bool in_root = watch->path_length != 0 && group == watch->path[0];
  if (watch->autogroup && in_root && !own &&
      read_of_task(watch, reader, false, number, "/autogroup", &content) &&
      sukima_parse_autogroup(content, &task->session, &nice)) {
    task->session_weight = sukima_nice_weight(nice);
  }
  task->values[watch->sample % sukima_ring_size] = *values;
  task->descriptor = -1;
  if (watch->open_files < SUKIMA_CAPACITY_MAX_FILES &&
      sukima_make_task_path(reader, own, number, "/schedstat")) {
    task->descriptor = sukima_file_open(reader->path);
    if (task->descriptor >= 0) watch->open_files++;
  }
}

static sukima_task* find_task(sukima_watch* watch, uint64_t number) {
  for (int i = 0; i < watch->task_end; i++) {
    if (watch->tasks[i].number == number) return &watch->tasks[i];
  }
  return NULL;
}

// Looks at a thread; it is watched if it has used CPU, or waited for it, since the scan before.
static void look_at_task(sukima_watch* watch, sukima_reader* reader, uint64_t number, int group, bool own,
                         double elapsed, bool always) {
  if (number == 0 || number > UINT32_MAX) return;
  sukima_task* known = find_task(watch, number);
  if (known != NULL && (known->group == group || known->own)) {
    known->scan = watch->scan;
    return;
  }
  sukima_text content;
  cap_schedstat values;
  if (!read_of_task(watch, reader, own, number, "/schedstat", &content) ||
      !cap_schedstat_parse(content.begin, sukima_text_length(&content), &values)) {
    return;
  }
  if (own) watch->has_tasks = true;
  double grown = compare(watch, number, values.run_ns + values.wait_ns);
  bool active = grown > least_use * elapsed;
  sukima_task_stat stat;
  if (grown < 0 && !always) {  // new: does it run or wait for a CPU right now?
    active = read_of_task(watch, reader, own, number, "/stat", &content) &&
             sukima_parse_task_stat(content, &stat) && stat.state == 'R';
  }
  if (active || always) add_task(watch, reader, (uint32_t)number, group, own, &values);
}

static void scan_own_tasks(sukima_watch* watch, sukima_reader* reader, double elapsed) {
  sukima_directory_reader names;
  watch->own_count = 0;
  watch->thread_count = 0;
  if (!sukima_make_process_path(reader, "/task") ||
      sukima_directory_open(&names, reader->path, watch->entry_memory[0], sizeof watch->entry_memory[0]) !=
          0) {
    return;
  }
  const char* name = NULL;
  while ((name = sukima_directory_next(&names)) != NULL) {
    sukima_text text = {name, name + strlen(name)};
    uint64_t number = 0;
    if (!sukima_text_take_number(&text, &number) || number > UINT32_MAX) continue;
    watch->thread_count++;
    if (watch->own_count == sukima_candidate_count) continue;
    uint32_t at = watch->own_count++;  // they come nearly sorted
    for (; at > 0 && watch->own_numbers[at - 1] > number; at--) {
      watch->own_numbers[at] = watch->own_numbers[at - 1];
    }
    watch->own_numbers[at] = (uint32_t)number;
  }
  sukima_directory_close(&names);
  int own_group = watch->path_length != 0 ? watch->path[watch->path_length - 1] : -1;
  for (uint32_t i = 0; i < watch->own_count; i++) {
    bool always = watch->own_count <= sukima_own_task_count;
    look_at_task(watch, reader, watch->own_numbers[i], own_group, true, elapsed, always);
  }
}

// Looks at all threads that a group's file lists; the group's directory is given.
static void scan_listed_tasks(sukima_watch* watch, sukima_reader* reader, const char* directory, int group,
                              double elapsed) {
  sukima_writer out = sukima_writer_make(reader->path, sizeof reader->path);
  sukima_write(&out, directory);
  sukima_write(&out, watch->v2 ? "/cgroup.threads" : "/tasks");
  sukima_line_reader lines;
  if (out.overflow ||
      sukima_line_reader_open(&lines, reader->path, reader->lines, sizeof reader->lines) != 0) {
    return;
  }
  sukima_text line;
  while (sukima_line_reader_next(&lines, &line)) {
    uint64_t number = 0;
    if (!sukima_text_take_number(&line, &number) || is_own(watch, number)) continue;
    look_at_task(watch, reader, number, group, false, elapsed, false);
  }
  sukima_line_reader_close(&lines);
}

// The threads of a neighbour, and of the groups below it. `directory` has room for longer paths.
static void scan_neighbour(sukima_watch* watch, sukima_reader* reader, char* directory, int group,
                           double elapsed, int depth, int* directories) {
  scan_listed_tasks(watch, reader, directory, group, elapsed);
  sukima_directory_reader names;
  if (depth == deepest_below || sukima_directory_open(&names, directory, watch->entry_memory[depth],
                                                      sizeof watch->entry_memory[depth]) != 0) {
    return;
  }
  size_t length = strlen(directory);
  const char* name = NULL;
  while ((name = sukima_directory_next(&names)) != NULL && (*directories)++ < most_directories) {
    sukima_writer out = {directory, sukima_path_size, length, false};
    sukima_write(&out, "/");
    sukima_write(&out, name);
    if (!out.overflow) scan_neighbour(watch, reader, directory, group, elapsed, depth + 1, directories);
    directory[length] = '\0';
  }
  sukima_directory_close(&names);
}

static int find_group(const sukima_watch* watch, uint64_t key) {
  for (int i = 0; i < watch->group_end; i++) {
    if (watch->groups[i].key == key) return i;
  }
  return -1;
}

static int free_groups(const sukima_watch* watch) {
  int count = sukima_group_count - watch->group_end;
  for (int i = 0; i < watch->group_end; i++) count += watch->groups[i].key == 0;
  return count;
}

// A group beside the path; its directory stands in watch->path_memory.
static void look_at_group(sukima_watch* watch, sukima_reader* reader, uint32_t level, double elapsed) {
  uint64_t key = sukima_hash_path(watch->path_memory);
  int index = find_group(watch, key);
  uint64_t use = 0;
  bool has_use = index < 0 && sukima_group_read_use(watch, reader, watch->path_memory, &use);
  if (index < 0) {
    double grown = has_use ? compare(watch, key, use) : 1;
    int room = free_groups(watch);
    if (room == 0 || (grown <= least_use * elapsed && room <= groups_kept_free)) return;
    index = sukima_group_add(watch, reader, watch->path_memory, level, false);
    if (index < 0) return;
  }
  sukima_group* group = &watch->groups[index];
  if (group->on_path) return;
  group->scan = watch->scan;
  double now = sukima_group_use(watch, group, (uint64_t)(elapsed * 1e9));
  if (now > least_use) sukima_group_read_settings(watch, reader, group, watch->path_memory);
  if (now > least_group_use || !group->has_usage) {
    int directories = 0;
    scan_neighbour(watch, reader, watch->path_memory, index, elapsed, 1, &directories);
  }
}

// The groups directly below a group of the path whose directory has this length in the place's directory.
static void scan_groups_below(sukima_watch* watch, sukima_reader* reader, const char* directory,
                              size_t length, uint32_t level, double elapsed) {
  sukima_writer out = sukima_writer_make(watch->path_memory, sizeof watch->path_memory);
  sukima_write_bytes(&out, directory, length);
  sukima_directory_reader names;
  if (out.overflow || sukima_directory_open(&names, watch->path_memory, watch->entry_memory[0],
                                            sizeof watch->entry_memory[0]) != 0) {
    return;
  }
  const char* name = NULL;
  while ((name = sukima_directory_next(&names)) != NULL) {
    out = (sukima_writer){watch->path_memory, sizeof watch->path_memory, length, false};
    sukima_write(&out, "/");
    sukima_write(&out, name);
    size_t whole = out.length;
    bool ours = strncmp(directory, watch->path_memory, whole) == 0 &&
                (directory[whole] == '/' || directory[whole] == '\0');
    if (!out.overflow && !ours) look_at_group(watch, reader, level, elapsed);
  }
  sukima_directory_close(&names);
}

static void forget(sukima_watch* watch) {
  for (int i = 0; i < watch->group_end; i++) {
    sukima_group* group = &watch->groups[i];
    if (group->key == 0 || group->on_path) continue;
    // One that uses no CPU makes room for others.
    bool idle = group->has_usage && group->since + 20 < watch->sample &&
                sukima_group_use(watch, group, idle_after_ns) <= least_use &&
                free_groups(watch) <= groups_kept_free;
    if (group->scan != watch->scan || idle) sukima_group_remove(watch, i);
  }
  for (int i = 0; i < watch->task_end; i++) {
    sukima_task* task = &watch->tasks[i];
    if (task->number == 0) continue;
    uint64_t from = sukima_watch_back(watch, idle_after_ns, task->since);
    bool old = sukima_watch_seconds(watch, from) >= 1.5;
    bool idle = old && sukima_task_wanted(watch, task, idle_after_ns) < least_use;
    bool crowd = !task->own || watch->own_count > sukima_own_task_count;
    // Threads of a neighbour that uses no CPU any longer are not looked for: they go by being idle.
    bool listed = task->own || watch->groups[task->group].on_path;
    bool gone = listed && task->scan != watch->scan;
    if (gone || (idle && crowd)) sukima_task_remove(watch, i);
  }
}

static uint64_t thread_time(void) {
  struct timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void sukima_watch_scan(sukima_watch* watch, sukima_reader* reader) {
  uint64_t started = thread_time();
  double elapsed = seconds_since_scan(watch, watch->scan_sample);
  watch->scan++;
  watch->scan_sample = watch->sample;
  memset(&watch->candidates[watch->scan % 2], 0, sizeof watch->candidates[0]);
  scan_own_tasks(watch, reader, elapsed);
  sukima_watch_read_settings(watch, reader);
  const sukima_place* v1 = &reader->places[SUKIMA_V1_CPU];
  const sukima_place* place = v1->listed ? v1 : &reader->places[SUKIMA_V2];
  size_t length = strlen(place->directory);
  size_t end = place->top_length;
  uint64_t window = (uint64_t)(elapsed * 1e9);
  for (uint32_t level = 0; level < watch->path_length; level++) {
    scan_groups_below(watch, reader, place->directory, end, level + 1, elapsed);
    double direct = sukima_direct_use(watch, level, window);
    // Before there are two samples nothing is known. A NAN is not below the limit.
    if (watch->scan <= 2 || !(direct < 0.01)) {
      sukima_writer out = sukima_writer_make(watch->path_memory, sizeof watch->path_memory);
      sukima_write_bytes(&out, place->directory, end);
      scan_listed_tasks(watch, reader, watch->path_memory, watch->path[level], elapsed);
    } else {
      for (int i = 0; i < watch->task_end; i++) {  // not looked for is not gone
        sukima_task* task = &watch->tasks[i];
        if (!task->own && task->group == watch->path[level]) task->scan = watch->scan;
      }
    }
    do {
      end++;
    } while (end < length && place->directory[end] != '/');
  }
  forget(watch);
  watch->scan_cost_ns = thread_time() - started;
}
