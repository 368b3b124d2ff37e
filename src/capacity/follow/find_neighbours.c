// SPDX-License-Identifier: Apache-2.0
// Finds neighbours: groups beside ours, and threads that use CPU.
//
// Of thousands of groups and threads, only a few may use CPU. A search stores the counter of each. Only those
// whose counter has changed between two searches are followed, which means that they are read in every
// sample.
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "estimate/fair_share.h"
#include "follow/group_path.h"
#include "shared/assert.h"
#include "text/file.h"

enum {
  deepest_below = 4,  // levels that are searched, including the neighbour's own; entry_memory has as many
  most_directories = 32,  // the most directories that are searched in these levels
  groups_kept_free = 48,  // number of places for groups that are reserved for groups that use CPU
  idle_after_ns = 2000000000  // a group or thread without use for this long is dropped
};

// A group or thread that used more than this part of a CPU between two searches is followed.
static const double least_use = 0.003;
// The threads of a neighbour are visited if it uses more than this.
static const double least_group_use = 0.02;

static cap_candidate* find_candidate(cap_candidates* table, uint64_t key) {
  uint64_t at = key * 0x9e3779b97f4a7c15 >> 52;  // the upper 12 bits
  _Static_assert(cap_candidate_count == 1 << 12, "the shift fits the size");
  for (uint32_t i = 0; i < 64; i++) {
    cap_candidate* entry = &table->entries[(at + i) % cap_candidate_count];
    if (entry->key == key || entry->key == 0) return entry;
  }
  return NULL;
}

// Stores the value for the next search. Returns its growth since the previous search, or -1 if it is new.
static double compare(cap_followed* followed, uint64_t key, uint64_t value) {
  cap_candidate* now = find_candidate(&followed->candidates[followed->search % 2], key);
  cap_candidate* before = find_candidate(&followed->candidates[(followed->search + 1) % 2], key);
  if (now != NULL) *now = (cap_candidate){key, value};
  if (before == NULL || before->key != key) return -1;
  return value > before->value ? (double)(value - before->value) * 1e-9 : 0;
}

static double seconds_since_search(const cap_followed* followed, uint64_t before) {
  return before != 0 && followed->sample - before < cap_ring_size ? cap_follow_seconds(followed, before) : 1;
}

static bool is_own(const cap_followed* followed, cap_reader* reader, uint64_t number) {
  uint32_t low = 0;
  uint32_t high = followed->own_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (followed->own_numbers[middle] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < followed->own_count && followed->own_numbers[low] == number) return true;
  // If the process has more threads than own_numbers can hold, ask the kernel about the others.
  return followed->thread_count > followed->own_count && cap_make_task_path(reader, true, number, "") &&
         cap_file_exists(reader->path);
}

static bool read_of_task(cap_followed* followed, cap_reader* reader, bool own, uint64_t number,
                         const char* name, cap_text* content) {
  return cap_make_task_path(reader, own, number, name) &&
         cap_file_read(reader->path, followed->line_memory, sizeof followed->line_memory, content) ==
             cap_file_read_ok;
}

static void add_task(cap_followed* followed, cap_reader* reader, uint32_t number, int group, bool own,
                     const cap_schedstat* values) {
  int index = 0;
  while (index < followed->task_end && followed->tasks[index].number != 0) index++;
  if (index == cap_task_count) return;
  if (index == followed->task_end) followed->task_end++;
  cap_task* task = &followed->tasks[index];
  memset(task, 0, sizeof *task);
  task->number = number;
  task->group = group;
  task->own = own;
  task->weight = 1;
  task->session_weight = 1;
  task->binding = cap_unknown_binding;
  task->since = followed->sample;
  task->search = followed->search;
  cap_text content;
  cap_task_stat stat;
  if (read_of_task(followed, reader, own, number, "/stat", &content) && cap_parse_task_stat(content, &stat)) {
    task->weight = cap_thread_weight(stat.policy, stat.nice);
    memcpy(task->name, stat.name, sizeof task->name);
  }
  int nice = 0;
  bool in_root = followed->path_length != 0 && group == followed->path[0];
  if (followed->autogroup && in_root && !own &&
      read_of_task(followed, reader, false, number, "/autogroup", &content) &&
      cap_parse_autogroup(content, &task->session, &nice)) {
    task->session_weight = cap_nice_weight(nice);
  }
  task->values[followed->sample % cap_ring_size] = *values;
  task->descriptor = -1;
  if (followed->open_files < SUKIMA_CAPACITY_MAX_FILES &&
      cap_make_task_path(reader, own, number, "/schedstat")) {
    task->descriptor = cap_file_open(reader->path);
    if (task->descriptor >= 0) followed->open_files++;
  }
}

static cap_task* find_task(cap_followed* followed, uint64_t number) {
  for (int i = 0; i < followed->task_end; i++) {
    if (followed->tasks[i].number == number) return &followed->tasks[i];
  }
  return NULL;
}

// Visits a thread. It is followed if it has used CPU, or waited for it, since the previous search.
static void look_at_task(cap_followed* followed, cap_reader* reader, uint64_t number, int group, bool own,
                         double elapsed, bool always) {
  if (number == 0 || number > UINT32_MAX) return;
  cap_task* known = find_task(followed, number);
  if (known != NULL && (known->group == group || known->own)) {
    known->search = followed->search;
    return;
  }
  cap_text content;
  cap_schedstat values;
  if (!read_of_task(followed, reader, own, number, "/schedstat", &content) ||
      !cap_schedstat_parse(content.begin, cap_text_length(&content), &values)) {
    return;
  }
  if (own) followed->has_tasks = true;
  double grown = compare(followed, number, values.run_ns + values.wait_ns);
  bool active = grown > least_use * elapsed;
  cap_task_stat stat;
  if (grown < 0 && !always) {  // if the thread is new, look whether it runs or waits for a CPU right now
    active = read_of_task(followed, reader, own, number, "/stat", &content) &&
             cap_parse_task_stat(content, &stat) && stat.state == 'R';
  }
  if (active || always) add_task(followed, reader, (uint32_t)number, group, own, &values);
}

static void find_own_tasks(cap_followed* followed, cap_reader* reader, double elapsed) {
  cap_directory_reader names;
  followed->own_count = 0;
  followed->thread_count = 0;
  if (!cap_make_process_path(reader, "/task") ||
      cap_directory_open(&names, reader->path, followed->entry_memory[0], sizeof followed->entry_memory[0]) !=
          0) {
    return;
  }
  const char* name = NULL;
  while ((name = cap_directory_next(&names)) != NULL) {
    cap_text text = {name, name + strlen(name)};
    uint64_t number = 0;
    if (!cap_text_take_number(&text, &number) || number > UINT32_MAX) continue;
    followed->thread_count++;
    if (followed->own_count == cap_candidate_count) continue;
    uint32_t at = followed->own_count++;  // the kernel lists them almost sorted
    for (; at > 0 && followed->own_numbers[at - 1] > number; at--) {
      followed->own_numbers[at] = followed->own_numbers[at - 1];
    }
    followed->own_numbers[at] = (uint32_t)number;
  }
  cap_directory_close(&names);
  int own_group = followed->path_length != 0 ? followed->path[followed->path_length - 1] : -1;
  for (uint32_t i = 0; i < followed->own_count; i++) {
    bool always = followed->own_count <= cap_own_task_count;
    look_at_task(followed, reader, followed->own_numbers[i], own_group, true, elapsed, always);
  }
}

// Visits all threads that the group with this directory lists.
static void find_listed_tasks(cap_followed* followed, cap_reader* reader, const char* directory, int group,
                              double elapsed) {
  cap_writer out = cap_writer_make(reader->path, sizeof reader->path);
  cap_write(&out, directory);
  cap_write(&out, followed->v2 ? "/cgroup.threads" : "/tasks");
  cap_line_reader lines;
  if (out.overflow || cap_line_reader_open(&lines, reader->path, reader->lines, sizeof reader->lines) != 0) {
    return;
  }
  cap_text line;
  while (cap_line_reader_next(&lines, &line)) {
    uint64_t number = 0;
    if (!cap_text_take_number(&line, &number) || is_own(followed, reader, number)) continue;
    look_at_task(followed, reader, number, group, false, elapsed, false);
  }
  cap_line_reader_close(&lines);
}

// Visits the threads of a neighbour and of the groups below it. `directory` has room for longer paths.
static void find_tasks_of_neighbour(cap_followed* followed, cap_reader* reader, char* directory, int group,
                                    double elapsed, int depth, int* directories) {
  find_listed_tasks(followed, reader, directory, group, elapsed);
  cap_directory_reader names;
  if (depth == deepest_below || cap_directory_open(&names, directory, followed->entry_memory[depth],
                                                   sizeof followed->entry_memory[depth]) != 0) {
    return;
  }
  size_t length = strlen(directory);
  const char* name = NULL;
  while ((name = cap_directory_next(&names)) != NULL && (*directories)++ < most_directories) {
    cap_writer out = {directory, cap_path_size, length, false};
    cap_write(&out, "/");
    cap_write(&out, name);
    if (!out.overflow)
      find_tasks_of_neighbour(followed, reader, directory, group, elapsed, depth + 1, directories);
    directory[length] = '\0';
  }
  cap_directory_close(&names);
}

static int find_group(const cap_followed* followed, uint64_t key) {
  for (int i = 0; i < followed->group_end; i++) {
    if (followed->groups[i].key == key) return i;
  }
  return -1;
}

static int free_groups(const cap_followed* followed) {
  int count = cap_group_count - followed->group_end;
  for (int i = 0; i < followed->group_end; i++) count += followed->groups[i].key == 0;
  return count;
}

// Visits a group beside the path. Its directory is in followed->path_memory.
static void look_at_group(cap_followed* followed, cap_reader* reader, uint32_t level, double elapsed) {
  if (!cap_group_has_weight(followed, reader, followed->path_memory)) {
    int directories = 0;
    find_tasks_of_neighbour(followed, reader, followed->path_memory, followed->path[level - 1], elapsed, 1,
                            &directories);
    return;
  }
  uint64_t key = cap_hash_path(followed->path_memory);
  int index = find_group(followed, key);
  uint64_t use = 0;
  bool has_use = index < 0 && cap_group_read_use(followed, reader, followed->path_memory, &use);
  if (index < 0) {
    double grown = has_use ? compare(followed, key, use) : 1;
    int room = free_groups(followed);
    if (room == 0 || (grown <= least_use * elapsed && room <= groups_kept_free)) return;
    index = cap_group_add(followed, reader, followed->path_memory, level, false);
    if (index < 0) return;
  }
  cap_group* group = &followed->groups[index];
  if (group->on_path) return;
  group->search = followed->search;
  double now = cap_group_use(followed, group, (uint64_t)(elapsed * 1e9));
  if (now > least_use) cap_group_read_settings(followed, reader, group, followed->path_memory);
  if (now > least_group_use || !group->has_usage) {
    int directories = 0;
    find_tasks_of_neighbour(followed, reader, followed->path_memory, index, elapsed, 1, &directories);
    group->binding = cap_group_binding(followed, reader, followed->path_memory);
  }
}

// Visits the groups directly below a group of the path. The first `length` bytes of `directory` are that
// group's directory.
static void find_groups_below(cap_followed* followed, cap_reader* reader, const char* directory,
                              size_t length, uint32_t level, double elapsed) {
  cap_writer out = cap_writer_make(followed->path_memory, sizeof followed->path_memory);
  cap_write_bytes(&out, directory, length);
  cap_directory_reader names;
  if (out.overflow || cap_directory_open(&names, followed->path_memory, followed->entry_memory[0],
                                         sizeof followed->entry_memory[0]) != 0) {
    return;
  }
  const char* name = NULL;
  while ((name = cap_directory_next(&names)) != NULL) {
    out = (cap_writer){followed->path_memory, sizeof followed->path_memory, length, false};
    cap_write(&out, "/");
    cap_write(&out, name);
    size_t whole = out.length;
    bool ours = strncmp(directory, followed->path_memory, whole) == 0 &&
                (directory[whole] == '/' || directory[whole] == '\0');
    // If the scheduler does not divide CPU by our own directory's group, other programs in that directory are
    // neighbours, too.
    bool skipped = ours && cap_group_has_weight(followed, reader, followed->path_memory);
    if (!out.overflow && !skipped) look_at_group(followed, reader, level, elapsed);
  }
  cap_directory_close(&names);
}

static void forget(cap_followed* followed) {
  for (int i = 0; i < followed->group_end; i++) {
    cap_group* group = &followed->groups[i];
    if (group->key == 0 || group->on_path) continue;
    // Remove a group that uses no CPU, to make room for others.
    bool idle = group->has_usage && group->since + 20 < followed->sample &&
                cap_group_use(followed, group, idle_after_ns) <= least_use &&
                free_groups(followed) <= groups_kept_free;
    if (group->search != followed->search || idle) cap_group_remove(followed, i);
  }
  for (int i = 0; i < followed->task_end; i++) {
    cap_task* task = &followed->tasks[i];
    if (task->number == 0) continue;
    uint64_t from = cap_follow_back(followed, idle_after_ns, task->since);
    bool old = cap_follow_seconds(followed, from) >= 1.5;
    bool idle = old && cap_task_wanted(followed, task, idle_after_ns) < least_use;
    bool crowd = !task->own || followed->own_count > cap_own_task_count;
    // Threads of a neighbour that no longer uses CPU are not visited, so they are dropped only when they are
    // idle.
    bool listed = task->own || followed->groups[task->group].on_path;
    bool gone = listed && task->search != followed->search;
    if (gone || (idle && crowd)) cap_task_remove(followed, i);
  }
}

static uint64_t thread_time(void) {
  struct timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void cap_find_neighbours(cap_followed* followed, cap_reader* reader) {
  uint64_t started = thread_time();
  double elapsed = seconds_since_search(followed, followed->search_sample);
  followed->search++;
  followed->search_sample = followed->sample;
  memset(&followed->candidates[followed->search % 2], 0, sizeof followed->candidates[0]);
  followed->binding_count = 0;
  for (int i = 0; i < followed->group_end; i++) followed->groups[i].binding = cap_unknown_binding;
  find_own_tasks(followed, reader, elapsed);
  cap_read_path_settings(followed, reader);
  const cap_place* v1 = &reader->places[CAP_V1_CPU];
  const cap_place* place = v1->listed ? v1 : &reader->places[CAP_V2];
  size_t length = strlen(place->directory);
  size_t end = place->top_length;
  uint64_t window = (uint64_t)(elapsed * 1e9);
  for (uint32_t level = 0; level < followed->path_length; level++) {
    CAP_ASSERT(end <= length, "each group of the path has a part of the directory of the process's group");
    find_groups_below(followed, reader, place->directory, end, level + 1, elapsed);
    double direct = cap_direct_use(followed, level, window);
    // Before the second sample nothing is known. If `direct` is NAN, the condition holds.
    if (followed->search <= 2 || !(direct < 0.01)) {
      cap_writer out = cap_writer_make(followed->path_memory, sizeof followed->path_memory);
      cap_write_bytes(&out, place->directory, end);
      find_listed_tasks(followed, reader, followed->path_memory, followed->path[level], elapsed);
    } else {
      for (int i = 0; i < followed->task_end; i++) {  // they were not visited, but still exist
        cap_task* task = &followed->tasks[i];
        if (!task->own && task->group == followed->path[level]) task->search = followed->search;
      }
    }
    do {
      end++;
    } while (end < length && place->directory[end] != '/');
  }
  forget(followed);
  cap_read_bindings(followed, reader);
  CAP_ASSERT(cap_follow_is_valid(followed), "the groups, threads and files that are followed fit each other");
  // The cost of reading a recorded tree is not the cost of searching on the recorded machine.
  followed->search_cost_ns = reader->root[0] != '\0' ? 0 : thread_time() - started;
}
