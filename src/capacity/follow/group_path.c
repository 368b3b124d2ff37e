// SPDX-License-Identifier: Apache-2.0
// Finds the groups from the root to the process's group, and the weights by which the kernel divides CPU in
// each of them.
#define _GNU_SOURCE
#include "follow/group_path.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cgroup/group_files.h"
#include "cgroup/parse.h"
#include "estimate/fair_share.h"
#include "shared/assert.h"
#include "text/file.h"

uint64_t cap_hash_path(const char* path) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (; *path != '\0'; path++) hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
  return hash != 0 ? hash : 1;
}

// If a file does not exist, nothing is set: its controller is not enabled, or the group is the root.
static bool is_unreadable(const cap_group_reading* reading) {
  bool absent = !reading->needed && (reading->error == ENOENT || reading->error == ENOTDIR);
  return !cap_group_was_read(reading) && !absent;
}

void cap_group_read_settings(cap_followed* followed, cap_reader* reader, cap_group* group,
                             const char* directory) {
  cap_weight weight;
  cap_quota quota;
  cap_group_reading reading = cap_group_read_weight(reader, directory, followed->v2, &weight);
  group->weight = cap_group_was_read(&reading) ? weight.relative : 1;
  group->is_unreadable = is_unreadable(&reading);
  reading = cap_group_read_quota(reader, directory, followed->v2, &quota);
  group->is_unreadable = group->is_unreadable || is_unreadable(&reading);
  bool limited = cap_group_was_read(&reading) && quota.limited;
  group->quota = limited ? (double)quota.quota_us / (double)quota.period_us : INFINITY;
  group->period_us = limited ? quota.period_us : 0;
}

// The directory with the use of the group, in the hierarchy of the controller cpuacct; NULL: unknown.
static const char* usage_directory(cap_followed* followed, cap_reader* reader, const char* directory) {
  if (!followed->usage_fits) return NULL;
  const cap_place* cpu = &reader->places[CAP_V1_CPU];
  const cap_place* usage = &reader->places[CAP_V1_CPUACCT];
  cap_writer out = cap_writer_make(followed->usage_memory, sizeof followed->usage_memory);
  cap_write_bytes(&out, usage->directory, usage->top_length);
  cap_write(&out, directory + cpu->top_length);
  return out.overflow ? NULL : followed->usage_memory;
}

static int open_of_group(cap_followed* followed, cap_reader* reader, const char* directory,
                         const char* name) {
  if (directory == NULL || followed->open_files >= SUKIMA_CAPACITY_MAX_FILES) return -1;
  int descriptor = cap_group_open_file(reader, directory, name);
  if (descriptor >= 0) followed->open_files++;
  return descriptor;
}

bool cap_group_read_use(cap_followed* followed, cap_reader* reader, const char* directory, uint64_t* use) {
  if (followed->v2) {
    cap_group_stat stat;
    if (!cap_group_read_stat(reader, directory, &stat) || !stat.has_usage) return false;
    *use = stat.usage_ns;
    return true;
  }
  const char* other = usage_directory(followed, reader, directory);
  return other != NULL && cap_group_read_cpuacct(reader, other, use);
}

int cap_group_add(cap_followed* followed, cap_reader* reader, const char* directory, uint32_t level,
                  bool on_path) {
  int index = 0;
  while (index < followed->group_end && followed->groups[index].key != 0) index++;
  if (index == cap_group_count) return -1;
  if (index == followed->group_end) followed->group_end++;
  cap_group* group = &followed->groups[index];
  memset(group, 0, sizeof *group);
  group->key = cap_hash_path(directory);
  group->level = level;
  group->on_path = on_path;
  group->since = followed->sample;
  group->search = followed->search;
  group->stat_descriptor = -1;
  group->binding = cap_unknown_binding;
  const char* slash = strrchr(directory, '/');
  cap_writer name = cap_writer_make(group->name, sizeof group->name);
  cap_write(&name, slash != NULL && level != 0 ? slash + 1 : "/");
  cap_group_read_settings(followed, reader, group, directory);
  uint64_t use = 0;
  group->has_usage = cap_group_read_use(followed, reader, directory, &use);
  group->descriptor = -1;
  if (followed->v2) {
    group->has_stat = true;
    group->descriptor = open_of_group(followed, reader, directory, "/cpu.stat");
  } else {
    if (on_path) group->stat_descriptor = open_of_group(followed, reader, directory, "/cpu.stat");
    if (group->has_usage) {
      const char* other = usage_directory(followed, reader, directory);
      group->descriptor = open_of_group(followed, reader, other, "/cpuacct.usage");
    }
  }
  if (group->descriptor < 0) group->has_usage = false;
  group->values[followed->sample % cap_ring_size].usage_ns = use;
  cap_group_stat stat;
  if (on_path && cap_group_read_stat(reader, directory, &stat)) {
    group->values[followed->sample % cap_ring_size].throttled_ns = stat.throttled_ns;
  }
  return index;
}

void cap_group_remove(cap_followed* followed, int index) {
  cap_group* group = &followed->groups[index];
  int* descriptors[] = {&group->descriptor, &group->stat_descriptor};
  for (int i = 0; i < 2; i++) {
    if (*descriptors[i] < 0) continue;
    cap_file_close(*descriptors[i]);
    *descriptors[i] = -1;
    followed->open_files--;
  }
  group->key = 0;
  while (followed->group_end > 0 && followed->groups[followed->group_end - 1].key == 0) followed->group_end--;
  for (int i = 0; i < followed->task_end; i++) {
    if (followed->tasks[i].number != 0 && followed->tasks[i].group == index) cap_task_remove(followed, i);
  }
}

void cap_task_remove(cap_followed* followed, int index) {
  cap_task* task = &followed->tasks[index];
  if (task->descriptor >= 0) {
    cap_file_close(task->descriptor);
    followed->open_files--;
  }
  CAP_ASSERT(followed->open_files >= 0, "a file that is closed was open");
  task->descriptor = -1;
  task->number = 0;
  while (followed->task_end > 0 && followed->tasks[followed->task_end - 1].number == 0) followed->task_end--;
}

bool cap_group_has_weight(const cap_followed* followed, cap_reader* reader, const char* directory) {
  return !followed->v2 || !cap_group_make_path(reader, directory, "/cpu.weight") ||
         cap_file_exists(reader->path);
}

static bool is_shown(const cap_place* place) {
  return place->match == CAP_SHOWS_GROUP || place->match == CAP_SHOWS_DIRECTORY;
}

// Reads the sessions. The kernel divides CPU by session only among the threads of the root group.
static void read_sessions(cap_followed* followed, cap_reader* reader) {
  cap_text content;
  uint64_t value = 0;
  int nice = 0;
  followed->autogroup = false;
  followed->own_session = 0;
  followed->own_session_weight = 1;
  if (!followed->tree_visible || !cap_make_path(reader, "/proc/sys/kernel/sched_autogroup_enabled", "", "") ||
      cap_file_read(reader->path, followed->line_memory, sizeof followed->line_memory, &content) !=
          cap_file_read_ok ||
      !cap_parse_count(content, &value)) {
    return;
  }
  followed->autogroup = value == 1;
  if (followed->autogroup && followed->path_length == 1 && cap_make_process_path(reader, "/autogroup") &&
      cap_file_read(reader->path, followed->line_memory, sizeof followed->line_memory, &content) ==
          cap_file_read_ok &&
      cap_parse_autogroup(content, &followed->own_session, &nice)) {
    followed->own_session_weight = cap_nice_weight(nice);
  }
}

static void open_group_pressure(cap_followed* followed, cap_reader* reader) {
  if (followed->group_pressure_descriptor >= 0) {
    cap_file_close(followed->group_pressure_descriptor);
    followed->group_pressure_descriptor = -1;
    followed->open_files--;
  }
  const cap_place* place = &reader->places[CAP_V2];
  // If version 1 is also in use, the group of a process in version 2's root group is unknown.
  bool own = is_shown(place) && strlen(place->directory) > place->top_length;
  if (own || (followed->v2 && is_shown(place))) {
    followed->group_pressure_descriptor = open_of_group(followed, reader, place->directory, "/cpu.pressure");
  }
}

// Marks the tree as hidden if a quota or weight on the path is unknown, because then nothing can be computed.
static void judge_path(cap_followed* followed) {
  followed->tree_visible = followed->path_visible;
  for (uint32_t level = 0; level < followed->path_length; level++) {
    if (followed->groups[followed->path[level]].is_unreadable) followed->tree_visible = false;
  }
}

void cap_find_group_path(cap_followed* followed, cap_reader* reader) {
  for (int i = 0; i < followed->group_end; i++) {
    if (followed->groups[i].key != 0) cap_group_remove(followed, i);
  }
  for (int i = 0; i < followed->task_end; i++) {
    if (followed->tasks[i].number != 0) cap_task_remove(followed, i);
  }
  const cap_place* v1 = &reader->places[CAP_V1_CPU];
  followed->v2 = !v1->listed;
  const cap_place* place = followed->v2 ? &reader->places[CAP_V2] : v1;
  const cap_place* usage = &reader->places[CAP_V1_CPUACCT];
  followed->path_length = 0;
  followed->path_visible = place->listed && is_shown(place) && !place->hidden_above;
  followed->usage_fits =
      !followed->v2 && usage->listed && is_shown(usage) && is_shown(place) &&
      strcmp(usage->directory + usage->top_length, place->directory + place->top_length) == 0;
  if (place->listed && is_shown(place)) {
    // Each '/' after the directory of the highest visible group ends the directory of one more group.
    size_t length = strlen(place->directory);
    for (size_t end = place->top_length; end <= length && followed->path_length < cap_level_count; end++) {
      if (end != place->top_length && end != length && place->directory[end] != '/') continue;
      if (end == length && end != place->top_length && place->directory[end - 1] == '/') continue;
      cap_writer out = cap_writer_make(followed->path_memory, sizeof followed->path_memory);
      cap_write_bytes(&out, place->directory, end);
      if (followed->path_length != 0 && !cap_group_has_weight(followed, reader, followed->path_memory)) break;
      int index = cap_group_add(followed, reader, followed->path_memory, followed->path_length, true);
      if (index < 0) break;
      followed->path[followed->path_length++] = index;
    }
    if (followed->path_length == cap_level_count) followed->path_visible = false;  // the path is too deep
  }
  if (followed->path_length == 0) followed->path_visible = false;
  CAP_ASSERT(followed->path_length <= cap_level_count, "the path to a group has at most so many groups");
  CAP_ASSERT(!followed->path_visible || followed->path_length != 0, "a visible path has groups");
  judge_path(followed);
  read_sessions(followed, reader);
  open_group_pressure(followed, reader);
}

void cap_read_path_settings(cap_followed* followed, cap_reader* reader) {
  const cap_place* v1 = &reader->places[CAP_V1_CPU];
  const cap_place* place = v1->listed ? v1 : &reader->places[CAP_V2];
  size_t length = strlen(place->directory);
  size_t end = place->top_length;
  for (uint32_t level = 0; level < followed->path_length; level++) {
    CAP_ASSERT(end <= length, "each group of the path has a part of the directory of the process's group");
    cap_writer out = cap_writer_make(followed->path_memory, sizeof followed->path_memory);
    cap_write_bytes(&out, place->directory, end);
    cap_group_read_settings(followed, reader, &followed->groups[followed->path[level]],
                            followed->path_memory);
    do {
      end++;
    } while (end < length && place->directory[end] != '/');
  }
  judge_path(followed);
}
