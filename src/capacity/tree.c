// SPDX-License-Identifier: Apache-2.0
// The groups from the root down to the process's, and what the kernel shares CPU by in each of them.
#define _GNU_SOURCE
#include "tree.h"

#include <math.h>
#include <string.h>

#include "file.h"
#include "fill.h"
#include "parse.h"

uint64_t sukima_hash_path(const char* path) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (; *path != '\0'; path++) hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
  return hash != 0 ? hash : 1;
}

// Reads a file of the group whose directory is given.
static bool read_of_group(sukima_watch* watch, sukima_reader* reader, const char* directory, const char* name,
                          sukima_text* content) {
  sukima_writer out = sukima_writer_make(reader->path, sizeof reader->path);
  sukima_write(&out, directory);
  sukima_write(&out, name);
  return !out.overflow && sukima_file_read(reader->path, watch->line_memory, sizeof watch->line_memory,
                                           content) == sukima_file_read_ok;
}

void sukima_group_read_settings(sukima_watch* watch, sukima_reader* reader, sukima_group* group,
                                const char* directory) {
  sukima_text content;
  uint64_t weight = 0;
  group->weight = 1;
  group->quota = INFINITY;
  group->period_us = 0;
  if (read_of_group(watch, reader, directory, watch->v2 ? "/cpu.weight" : "/cpu.shares", &content) &&
      sukima_parse_count(content, &weight)) {
    // Version 2 shows an idle group as weight 0.
    group->weight = weight == 0 ? sukima_idle_weight() : (double)weight / (watch->v2 ? 100 : 1024);
  }
  sukima_quota quota;
  bool found = false;
  if (watch->v2) {
    found = read_of_group(watch, reader, directory, "/cpu.max", &content) &&
            sukima_parse_cpu_max(content, &quota);
  } else {
    found = read_of_group(watch, reader, directory, "/cpu.cfs_quota_us", &content) &&
            sukima_parse_cfs_quota(content, &quota) && quota.limited &&
            read_of_group(watch, reader, directory, "/cpu.cfs_period_us", &content) &&
            sukima_parse_positive(content, &quota.period_us);
  }
  if (found && quota.limited) {
    group->quota = (double)quota.quota_us / (double)quota.period_us;
    group->period_us = quota.period_us;
  }
}

// The directory with the use of the group, in the hierarchy of the controller cpuacct; NULL: it is not known.
static const char* usage_directory(sukima_watch* watch, sukima_reader* reader, const char* directory) {
  if (!watch->usage_fits) return NULL;
  const sukima_place* cpu = &reader->places[SUKIMA_V1_CPU];
  const sukima_place* usage = &reader->places[SUKIMA_V1_CPUACCT];
  sukima_writer out = sukima_writer_make(watch->usage_memory, sizeof watch->usage_memory);
  sukima_write_bytes(&out, usage->directory, usage->top_length);
  sukima_write(&out, directory + cpu->top_length);
  return out.overflow ? NULL : watch->usage_memory;
}

static int open_of_group(sukima_watch* watch, sukima_reader* reader, const char* directory,
                         const char* name) {
  if (directory == NULL || watch->open_files >= SUKIMA_CAPACITY_MAX_FILES) return -1;
  sukima_writer out = sukima_writer_make(reader->path, sizeof reader->path);
  sukima_write(&out, directory);
  sukima_write(&out, name);
  int descriptor = out.overflow ? -1 : sukima_file_open(reader->path);
  if (descriptor >= 0) watch->open_files++;
  return descriptor;
}

bool sukima_group_read_use(sukima_watch* watch, sukima_reader* reader, const char* directory, uint64_t* use) {
  sukima_text content;
  sukima_group_stat stat;
  if (watch->v2) {
    if (!read_of_group(watch, reader, directory, "/cpu.stat", &content) ||
        !sukima_parse_group_stat(content, &stat) || !stat.has_usage) {
      return false;
    }
    *use = stat.usage_ns;
    return true;
  }
  const char* other = usage_directory(watch, reader, directory);
  return other != NULL && read_of_group(watch, reader, other, "/cpuacct.usage", &content) &&
         sukima_parse_count(content, use);
}

int sukima_group_add(sukima_watch* watch, sukima_reader* reader, const char* directory, uint32_t level,
                     bool on_path) {
  int index = 0;
  while (index < watch->group_end && watch->groups[index].key != 0) index++;
  if (index == sukima_group_count) return -1;
  if (index == watch->group_end) watch->group_end++;
  sukima_group* group = &watch->groups[index];
  memset(group, 0, sizeof *group);
  group->key = sukima_hash_path(directory);
  group->level = level;
  group->on_path = on_path;
  group->since = watch->sample;
  group->scan = watch->scan;
  group->stat_descriptor = -1;
  const char* slash = strrchr(directory, '/');
  sukima_writer name = sukima_writer_make(group->name, sizeof group->name);
  sukima_write(&name, slash != NULL && level != 0 ? slash + 1 : "/");
  sukima_group_read_settings(watch, reader, group, directory);
  uint64_t use = 0;
  group->has_usage = sukima_group_read_use(watch, reader, directory, &use);
  group->descriptor = -1;
  if (watch->v2) {
    group->has_stat = true;
    group->descriptor = open_of_group(watch, reader, directory, "/cpu.stat");
  } else {
    if (on_path) group->stat_descriptor = open_of_group(watch, reader, directory, "/cpu.stat");
    if (group->has_usage) {
      const char* other = usage_directory(watch, reader, directory);
      group->descriptor = open_of_group(watch, reader, other, "/cpuacct.usage");
    }
  }
  if (group->descriptor < 0) group->has_usage = false;
  group->values[watch->sample % sukima_ring_size].usage_ns = use;
  sukima_text content;
  sukima_group_stat stat;
  if (on_path && read_of_group(watch, reader, directory, "/cpu.stat", &content) &&
      sukima_parse_group_stat(content, &stat)) {
    group->values[watch->sample % sukima_ring_size].throttled_ns = stat.throttled_ns;
  }
  return index;
}

void sukima_group_remove(sukima_watch* watch, int index) {
  sukima_group* group = &watch->groups[index];
  int* descriptors[] = {&group->descriptor, &group->stat_descriptor};
  for (int i = 0; i < 2; i++) {
    if (*descriptors[i] < 0) continue;
    sukima_file_close(*descriptors[i]);
    *descriptors[i] = -1;
    watch->open_files--;
  }
  group->key = 0;
  while (watch->group_end > 0 && watch->groups[watch->group_end - 1].key == 0) watch->group_end--;
  for (int i = 0; i < watch->task_end; i++) {
    if (watch->tasks[i].number != 0 && watch->tasks[i].group == index) sukima_task_remove(watch, i);
  }
}

void sukima_task_remove(sukima_watch* watch, int index) {
  sukima_task* task = &watch->tasks[index];
  if (task->descriptor >= 0) {
    sukima_file_close(task->descriptor);
    watch->open_files--;
  }
  task->descriptor = -1;
  task->number = 0;
  while (watch->task_end > 0 && watch->tasks[watch->task_end - 1].number == 0) watch->task_end--;
}

static bool is_shown(const sukima_place* place) {
  return place->match == SUKIMA_SHOWS_GROUP || place->match == SUKIMA_SHOWS_DIRECTORY;
}

// The kernel shares by session only among the threads of the root group.
static void read_sessions(sukima_watch* watch, sukima_reader* reader) {
  sukima_text content;
  uint64_t value = 0;
  int nice = 0;
  watch->autogroup = false;
  watch->own_session = 0;
  watch->own_session_weight = 1;
  if (!watch->tree_visible || !sukima_make_path(reader, "/proc/sys/kernel/sched_autogroup_enabled", "", "") ||
      sukima_file_read(reader->path, watch->line_memory, sizeof watch->line_memory, &content) !=
          sukima_file_read_ok ||
      !sukima_parse_count(content, &value)) {
    return;
  }
  watch->autogroup = value == 1;
  if (watch->autogroup && watch->path_length == 1 && sukima_make_process_path(reader, "/autogroup") &&
      sukima_file_read(reader->path, watch->line_memory, sizeof watch->line_memory, &content) ==
          sukima_file_read_ok &&
      sukima_parse_autogroup(content, &watch->own_session, &nice)) {
    watch->own_session_weight = sukima_nice_weight(nice);
  }
}

static void open_group_pressure(sukima_watch* watch, sukima_reader* reader) {
  if (watch->group_pressure_descriptor >= 0) {
    sukima_file_close(watch->group_pressure_descriptor);
    watch->group_pressure_descriptor = -1;
    watch->open_files--;
  }
  const sukima_place* place = &reader->places[SUKIMA_V2];
  // A process that is in the root group of version 2 beside version 1 says nothing about its own.
  bool own = is_shown(place) && strlen(place->directory) > place->top_length;
  if (own || (watch->v2 && is_shown(place))) {
    watch->group_pressure_descriptor = open_of_group(watch, reader, place->directory, "/cpu.pressure");
  }
}

void sukima_watch_find_tree(sukima_watch* watch, sukima_reader* reader) {
  for (int i = 0; i < watch->group_end; i++) {
    if (watch->groups[i].key != 0) sukima_group_remove(watch, i);
  }
  for (int i = 0; i < watch->task_end; i++) {
    if (watch->tasks[i].number != 0) sukima_task_remove(watch, i);
  }
  const sukima_place* v1 = &reader->places[SUKIMA_V1_CPU];
  watch->v2 = !v1->listed;
  const sukima_place* place = watch->v2 ? &reader->places[SUKIMA_V2] : v1;
  const sukima_place* usage = &reader->places[SUKIMA_V1_CPUACCT];
  watch->path_length = 0;
  watch->tree_visible = place->listed && is_shown(place) && !place->hidden_above;
  watch->usage_fits = !watch->v2 && usage->listed && is_shown(usage) && is_shown(place) &&
                      strcmp(usage->directory + usage->top_length, place->directory + place->top_length) == 0;
  if (place->listed && is_shown(place)) {
    // Each '/' behind the highest visible group's directory ends the directory of one more group.
    size_t length = strlen(place->directory);
    for (size_t end = place->top_length; end <= length && watch->path_length < sukima_level_count; end++) {
      if (end != place->top_length && end != length && place->directory[end] != '/') continue;
      if (end == length && end != place->top_length && place->directory[end - 1] == '/') continue;
      sukima_writer out = sukima_writer_make(watch->path_memory, sizeof watch->path_memory);
      sukima_write_bytes(&out, place->directory, end);
      int index = sukima_group_add(watch, reader, watch->path_memory, watch->path_length, true);
      if (index < 0) break;
      watch->path[watch->path_length++] = index;
    }
    if (watch->path_length == sukima_level_count) watch->tree_visible = false;  // deeper than we look
  }
  if (watch->path_length == 0) watch->tree_visible = false;
  read_sessions(watch, reader);
  open_group_pressure(watch, reader);
}

void sukima_watch_read_settings(sukima_watch* watch, sukima_reader* reader) {
  const sukima_place* v1 = &reader->places[SUKIMA_V1_CPU];
  const sukima_place* place = v1->listed ? v1 : &reader->places[SUKIMA_V2];
  size_t length = strlen(place->directory);
  size_t end = place->top_length;
  for (uint32_t level = 0; level < watch->path_length; level++) {
    sukima_writer out = sukima_writer_make(watch->path_memory, sizeof watch->path_memory);
    sukima_write_bytes(&out, place->directory, end);
    sukima_group_read_settings(watch, reader, &watch->groups[watch->path[level]], watch->path_memory);
    do {
      end++;
    } while (end < length && place->directory[end] != '/');
  }
}
