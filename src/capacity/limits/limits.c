// SPDX-License-Identifier: Apache-2.0
// Reads the limits, and computes their consequences.
#define _GNU_SOURCE
#include "limits/reader.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cgroup/group_files.h"
#include "cgroup/parse.h"
#include "shared/assert.h"
#include "text/counters.h"
#include "text/file.h"

// Passes a limit to the listener. Its text is in reader->text.
static void report_limit(cap_reader* reader, sukima_capacity_limit limit, const char* file) {
  if (reader->listener == NULL) return;
  limit.file = file;
  limit.text = reader->text;
  reader->listener->limit(reader->listener->owner, &limit);
}

static cap_writer describe(cap_reader* reader) { return cap_writer_make(reader->text, sizeof reader->text); }

// Reads the file reader->path. Notes a missing file only if it is needed.
static bool read_content(cap_reader* reader, bool needed, cap_text* content) {
  int result = cap_file_read(reader->path, reader->content, sizeof reader->content, content);
  if (result == cap_file_read_ok) {
    reader->files_seen++;
    return true;
  }
  if (needed || (result != ENOENT && result != ENOTDIR)) cap_note_unreadable(reader, reader->path, result);
  return false;
}

static void report_cpus(cap_reader* reader, sukima_capacity_kind kind, uint32_t count, const char* before,
                        const char* file) {
  cap_writer out = describe(reader);
  cap_write(&out, before);
  cap_write_number(&out, count);
  cap_write(&out, count == 1 ? " CPU" : " CPUs");
  if (kind == SUKIMA_CAPACITY_ONLINE) cap_write(&out, count == 1 ? " is online" : " are online");
  report_limit(reader, (sukima_capacity_limit){.kind = kind, .value = count}, file);
}

// Reads a file that contains a list of CPUs. An empty list counts as no limit, and is noted.
static uint32_t read_cpu_list(cap_reader* reader, cap_cpu_set* set, bool needed) {
  cap_text content;
  if (!read_content(reader, needed, &content)) return 0;
  if (!cap_cpu_set_parse(set, content.begin, cap_text_length(&content))) {
    cap_cpu_set_clear(set);
    cap_note(reader, reader->path, "does not hold a list of CPUs such as 0-3,8; it is ignored");
    return 0;
  }
  uint32_t count = cap_cpu_set_count(set);
  if (count == 0) cap_note(reader, reader->path, "holds an empty list of CPUs; it is ignored");
  return count;
}

static void read_online(cap_reader* reader, sukima_capacity_facts* facts) {
  if (!cap_make_path(reader, "/sys/devices/system/cpu/online", "", "")) return;
  facts->online = read_cpu_list(reader, &reader->online, true);
  if (facts->online == 0) return;
  report_cpus(reader, SUKIMA_CAPACITY_ONLINE, facts->online, "", reader->path);
}

static bool ask_affinity(cap_reader* reader) {
  long target = reader->pid;
  if (target == 0 && reader->affinity_of == SUKIMA_CAPACITY_OF_PROCESS) target = syscall(SYS_getpid);
  return cap_cpu_set_ask_affinity(&reader->affinity, target, reader->content,
                                  (size_t)SUKIMA_CAPACITY_MAX_CPUS / 8);
}

static bool read_affinity_file(cap_reader* reader) {
  if (!cap_make_process_path(reader, "/status")) return false;
  cap_text content;
  if (!read_content(reader, true, &content)) return false;
  if (cap_cpu_set_parse_status(&reader->affinity, content.begin, cap_text_length(&content))) return true;
  cap_cpu_set_clear(&reader->affinity);
  cap_note(reader, reader->path, "has no valid line Cpus_allowed_list; it is ignored");
  return false;
}

// Decides once whether the mask at the time of opening was narrower than it could have been.
static void keep_affinity(cap_reader* reader, const sukima_capacity_facts* facts) {
  const cap_cpu_set* all = facts->cpuset != 0 ? &reader->cpuset : &reader->online;
  uint32_t count = facts->cpuset != 0 ? facts->cpuset : facts->online;
  bool free = count != 0 && cap_cpu_set_count_both(&reader->affinity, all) == count;
  reader->open_affinity = free ? CAP_FREE : CAP_NARROWED;
  cap_cpu_set_copy(&reader->affinity_at_open, &reader->affinity);
}

// Whether the list of online CPUs is made up. Containers of LXC and Sysbox see a list 0 to n-1 instead of the
// CPUs that they may use. A CPU in a cpuset is online, so a cpuset with other CPUs reveals such a list.
// Without a cpuset, an affinity mask with the same number of CPUs reveals it.
static bool is_online_made_up(const cap_reader* reader, const sukima_capacity_facts* facts) {
  uint32_t count = facts->online;
  if (count == 0 || cap_cpu_set_is_inside(&reader->affinity, &reader->online)) return false;
  for (uint32_t cpu = 0; cpu < count; cpu++) {
    if (!cap_cpu_set_contains(&reader->online, cpu)) return false;
  }
  if (facts->cpuset != 0) {
    return cap_cpu_set_count_both(&reader->affinity, &reader->cpuset) != 0 &&
           !cap_cpu_set_is_inside(&reader->cpuset, &reader->online);
  }
  return cap_cpu_set_count(&reader->affinity) == count;
}

static void read_affinity(cap_reader* reader, sukima_capacity_facts* facts) {
  bool keeps = reader->affinity_of == SUKIMA_CAPACITY_AT_OPEN && reader->pid == 0;
  const char* file = "sched_getaffinity";
  if (keeps && reader->open_affinity != CAP_NOT_READ_YET) {
    bool narrowed = reader->open_affinity == CAP_NARROWED;
    const cap_cpu_set* all = facts->cpuset != 0 ? &reader->cpuset : &reader->online;
    cap_cpu_set_copy(&reader->affinity, narrowed ? &reader->affinity_at_open : all);
  } else if (reader->root[0] != '\0' || !ask_affinity(reader)) {
    if (!read_affinity_file(reader)) return;
    file = reader->path;
    // Unlike the system call, the file also lists offline CPUs.
    if (!is_online_made_up(reader, facts) &&
        cap_cpu_set_count_both(&reader->affinity, &reader->online) != 0) {
      cap_cpu_set_intersect(&reader->affinity, &reader->online);
    }
  }
  reader->online_is_made_up = is_online_made_up(reader, facts);
  facts->affinity = cap_cpu_set_count(&reader->affinity);
  if (facts->affinity == 0) {
    cap_note(reader, file, "gives an empty affinity mask; it is ignored");
    return;
  }
  if (keeps && reader->open_affinity == CAP_NOT_READ_YET) keep_affinity(reader, facts);
  report_cpus(reader, SUKIMA_CAPACITY_AFFINITY, facts->affinity, "the affinity mask allows ", file);
}

// Removes the last component of a group's directory. \return false at the highest visible group
static bool go_up(const cap_place* place, char* directory) {
  CAP_ASSERT(strlen(directory) >= place->top_length, "a group is not above the highest visible one");
  char* slash = strrchr(directory, '/');
  if (slash == NULL || (size_t)(slash - directory) < place->top_length) return false;
  *slash = '\0';
  return true;
}

// Reads the cpuset from the nearest group that has one of these files. Its effective set includes the limits
// of all groups above.
static void read_cpuset_of(cap_reader* reader, const cap_place* place, const char* const names[2],
                           sukima_capacity_facts* facts) {
  if (place->match == CAP_NO_MATCH || facts->cpuset != 0) return;
  strcpy(reader->below, place->directory);
  do {
    for (int i = 0; i < 2 && names[i] != NULL; i++) {
      if (!cap_group_make_path(reader, reader->below, names[i])) continue;
      facts->cpuset = read_cpu_list(reader, &reader->cpuset, false);
      if (facts->cpuset == 0) continue;
      report_cpus(reader, SUKIMA_CAPACITY_CPUSET, facts->cpuset, "the cpuset allows ", reader->path);
      return;
    }
  } while (go_up(place, reader->below));
}

static void read_cpuset(cap_reader* reader, sukima_capacity_facts* facts) {
  static const char* const v1_names[2] = {"/cpuset.effective_cpus", "/cpuset.cpus"};
  static const char* const v2_names[2] = {"/cpuset.cpus.effective", NULL};
  read_cpuset_of(reader, &reader->places[CAP_V1_CPUSET], v1_names, facts);
  read_cpuset_of(reader, &reader->places[CAP_V2], v2_names, facts);
}

static void write_level(cap_writer* out, uint32_t level) {
  if (level == 0) {
    cap_write(out, "the process's own group");
    return;
  }
  cap_write(out, "the group ");
  cap_write_number(out, level);
  cap_write(out, level == 1 ? " level above the process's own" : " levels above the process's own");
}

// Reads for the listener how often the quota throttled the group.
static void read_throttling(cap_reader* reader, sukima_capacity_limit* limit) {
  cap_group_stat stat;
  strcpy(reader->mount_point, reader->path);  // keep the path of the quota's file
  bool was_read = cap_group_read_stat(reader, reader->below, &stat);
  strcpy(reader->path, reader->mount_point);
  if (!was_read || stat.throttled_periods > stat.periods) return;
  limit->periods = stat.periods;
  limit->throttled_periods = stat.throttled_periods;
}

static void take_quota(cap_reader* reader, sukima_capacity_facts* facts, const cap_quota* quota,
                       uint32_t level, bool applies) {
  double cpus = quota->limited ? (double)quota->quota_us / (double)quota->period_us : INFINITY;
  if (applies && cpus < facts->quota) {
    facts->quota = cpus;
    facts->quota_period_us = quota->period_us;
  }
  if (reader->listener == NULL) return;
  sukima_capacity_limit limit = {.kind = SUKIMA_CAPACITY_QUOTA,
                                 .value = cpus,
                                 .level = level,
                                 .period_us = quota->limited ? quota->period_us : 0};
  cap_writer out = describe(reader);
  write_level(&out, level);
  if (quota->limited) {
    cap_write(&out, " may use ");
    cap_write_number(&out, quota->quota_us);
    cap_write(&out, " us of CPU time every ");
    cap_write_number(&out, quota->period_us);
    cap_write(&out, " us: ");
    cap_write_decimal(&out, cpus);
    cap_write(&out, cpus == 1 ? " CPU" : " CPUs");
    read_throttling(reader, &limit);
  } else {
    cap_write(&out, " has no quota");
  }
  report_limit(reader, limit, reader->path);
}

// Notes an error in a group's setting. Notes a missing file only if it is needed.
static bool check_reading(cap_reader* reader, const cap_group_reading* reading) {
  reader->files_seen += reading->files;
  if (reading->error != cap_file_read_ok) {
    bool absent = reading->error == ENOENT || reading->error == ENOTDIR;
    if (reading->needed || !absent) cap_note_unreadable(reader, reader->path, reading->error);
  } else if (reading->malformed != NULL) {
    cap_note(reader, reader->path, reading->malformed);
  }
  return cap_group_was_read(reading);
}

static void take_weight(cap_reader* reader, sukima_capacity_facts* facts, const cap_weight* weight,
                        uint32_t level) {
  if (level == 0) facts->weight = weight->relative;
  if (reader->listener == NULL) return;
  cap_writer out = describe(reader);
  write_level(&out, level);
  cap_write(&out, " has weight ");
  cap_write_number(&out, weight->number);
  cap_write(&out, ", ");
  cap_write_decimal(&out, weight->relative);
  cap_write(&out, " times the default");
  if (weight->idle) cap_write(&out, ": an idle group, which gets only CPU time that no other group wants");
  report_limit(
      reader,
      (sukima_capacity_limit){.kind = SUKIMA_CAPACITY_WEIGHT, .value = weight->relative, .level = level},
      reader->path);
}

static void read_groups(cap_reader* reader, const cap_place* place, bool v2, bool applies,
                        sukima_capacity_facts* facts) {
  if (place->match == CAP_NO_MATCH) return;
  strcpy(reader->below, place->directory);
  uint32_t level = place->level;
  do {
    cap_quota quota;
    cap_group_reading reading = cap_group_read_quota(reader, reader->below, v2, &quota);
    if (check_reading(reader, &reading)) take_quota(reader, facts, &quota, level, applies);
    // Weights above the process's own group are only for the listener. Errors in them are not noted, because
    // without a listener the facts would have fewer notes.
    if (level == 0 || reader->listener != NULL) {
      cap_weight weight;
      reading = cap_group_read_weight(reader, reader->below, v2, &weight);
      if (level == 0 ? check_reading(reader, &reading) : cap_group_was_read(&reading))
        take_weight(reader, facts, &weight, level);
    }
    level++;
  } while (go_up(place, reader->below));
}

// Whether quotas apply to the process. They limit ordinary threads, but not threads of the real-time classes.
static bool quotas_apply(cap_reader* reader) {
  enum { fifo = 1, round_robin = 2, deadline = 6, reset_on_fork = 0x40000000 };
  uint64_t policy = 0;
  if (reader->root[0] == '\0') {
    long answer = syscall(SYS_sched_getscheduler, reader->pid != 0 ? reader->pid : syscall(SYS_getpid));
    policy = answer > 0 ? (uint64_t)answer & ~(uint64_t)reset_on_fork : 0;
  } else {
    cap_text content;
    uint64_t pid = 0;
    if (!cap_make_process_path(reader, "/stat") || !read_content(reader, false, &content)) return true;
    if (!cap_parse_stat(content, &pid, &policy)) {
      cap_note(reader, reader->path, "is malformed; it is ignored");
      return true;
    }
  }
  if (policy != fifo && policy != round_robin && policy != deadline) return true;
  cap_note(reader, "sched_getscheduler", "reports a real-time class: quotas do not hold the process back");
  return false;
}

// Intersects all sets, and takes the smallest number.
static void combine(cap_reader* reader, sukima_capacity_facts* facts) {
  cap_cpu_set* set = &reader->affinity;
  if (facts->affinity == 0) cap_cpu_set_copy(set, facts->cpuset != 0 ? &reader->cpuset : &reader->online);
  if (facts->cpuset != 0) {
    if (cap_cpu_set_count_both(set, &reader->cpuset) != 0) {
      cap_cpu_set_intersect(set, &reader->cpuset);
    } else {
      cap_note(reader, "cpuset", "has no CPU in common with the affinity mask; the cpuset is ignored");
    }
  }
  facts->cap = cap_cpu_set_count(set);
  // Compare the numbers instead of the sets, because a container may see a made-up list of CPUs 0 to n-1
  // here.
  if (facts->online != 0 && facts->online < facts->cap) facts->cap = facts->online;
  if (facts->cap == 0) {
    facts->cap = 1;
    cap_note(reader, "sched_getaffinity",
             "does not report the CPUs: their number is unknown, and 1 is assumed");
  }
  facts->binding = SUKIMA_CAPACITY_AFFINITY;
  if (facts->cpuset == facts->cap) facts->binding = SUKIMA_CAPACITY_CPUSET;
  if (facts->online == facts->cap) facts->binding = SUKIMA_CAPACITY_ONLINE;
  facts->usable = facts->cap;
  if (facts->quota < facts->usable) {
    facts->usable = facts->quota;
    facts->binding = SUKIMA_CAPACITY_QUOTA;
  }
}

static void apply_override(cap_reader* reader, sukima_capacity_facts* facts) {
  if (!(reader->override_cpus > 0)) return;
  facts->usable = reader->override_cpus;
  facts->binding = SUKIMA_CAPACITY_OVERRIDE;
  while (facts->cap < facts->usable) facts->cap++;
  cap_writer out = describe(reader);
  cap_write(&out, "the user set ");
  cap_write_decimal(&out, facts->usable);
  cap_write(&out, facts->usable == 1 ? " CPU" : " CPUs");
  report_limit(reader, (sukima_capacity_limit){.kind = SUKIMA_CAPACITY_OVERRIDE, .value = facts->usable},
               "SUKIMA_CPUS");
}

static void read_all(cap_reader* reader, sukima_capacity_facts* facts) {
  *facts = (sukima_capacity_facts){.quota = INFINITY, .weight = 1};
  cap_cpu_set_clear(&reader->online);
  cap_cpu_set_clear(&reader->cpuset);
  cap_cpu_set_clear(&reader->affinity);
  reader->notes = reader->group_notes;
  reader->files_seen = 0;
  read_online(reader, facts);
  read_cpuset(reader, facts);
  read_affinity(reader, facts);
  bool applies = quotas_apply(reader);
  const cap_place* v1 = &reader->places[CAP_V1_CPU];
  const cap_place* v2 = &reader->places[CAP_V2];
  // The kernel attaches a controller to only one hierarchy.
  read_groups(reader, v1->listed ? v1 : v2, !v1->listed, applies, facts);
  combine(reader, facts);
  apply_override(reader, facts);
  CAP_ASSERT(facts->cap >= 1 && facts->usable <= facts->cap, "a process can use no more CPUs than it has");
  facts->ancestors_hidden = v1->listed ? v1->hidden_above : v2->hidden_above;
  facts->note_count = reader->notes;
}

void cap_reader_read(cap_reader* reader, sukima_capacity_facts* facts) {
  bool fresh = !reader->groups_found;
  uint32_t files_before = reader->files_seen;
  const cap_listener* listener = reader->listener;
  if (fresh || cap_reader_hash_groups(reader) != reader->groups_hash) {
    cap_find_cgroups(reader);
    fresh = true;
  }
  // The first pass shows whether a file has disappeared. Only the last pass is reported to the listener.
  if (!fresh) reader->listener = NULL;
  read_all(reader, facts);
  reader->listener = listener;
  if (fresh) return;
  bool gone = reader->files_seen < files_before;  // something was unmounted or removed
  if (gone) cap_find_cgroups(reader);
  if (gone || listener != NULL) read_all(reader, facts);
}
