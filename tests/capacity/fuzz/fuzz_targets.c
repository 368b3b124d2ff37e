// SPDX-License-Identifier: Apache-2.0
// One function for each format: takes any bytes, and ends the program if the parser breaks its promise.
#define _GNU_SOURCE
#include "fuzz_targets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sukima/capacity.h>

#include "cgroup/parse.h"
#include "estimate/host.h"
#include "profile/profile_text.h"
#include "shared/file_watch.h"
#include "shared/schedstat.h"
#include "text/counters.h"
#include "text/cpu_set.h"
#include "text/file.h"

static void check(bool promise, const char* text) {
  if (promise) return;
  fprintf(stderr, "the promise is broken: %s\n", text);
  abort();
}

static cap_text text_of(const uint8_t* data, size_t size) {
  const char* begin = (const char*)data;
  return (cap_text){begin, begin + size};
}

static bool is_inside(cap_text part, cap_text whole) {
  return part.begin >= whole.begin && part.begin <= part.end && part.end <= whole.end;
}

void fuzz_cpu_max(const uint8_t* data, size_t size) {
  cap_quota quota;
  if (!cap_parse_cpu_max(text_of(data, size), &quota)) return;
  check(quota.period_us > 0, "a period is above 0");
  check(quota.limited == (quota.quota_us > 0), "a quota is above 0 if there is one");
  char memory[64];
  cap_writer out = cap_writer_make(memory, sizeof memory);
  if (quota.limited) cap_write_number(&out, quota.quota_us);
  cap_write(&out, quota.limited ? " " : "max ");
  cap_write_number(&out, quota.period_us);
  cap_quota again;
  check(cap_parse_cpu_max((cap_text){memory, memory + out.length}, &again), "what is written can be read");
  check(again.limited == quota.limited && again.quota_us == quota.quota_us &&
            again.period_us == quota.period_us,
        "reading, writing and reading gives the same quota");
}

void fuzz_cfs_quota(const uint8_t* data, size_t size) {
  cap_quota quota;
  uint64_t value = 0;
  if (cap_parse_cfs_quota(text_of(data, size), &quota)) check(quota.quota_us > 0, "a quota is not 0");
  if (cap_parse_positive(text_of(data, size), &value)) check(value > 0, "a positive number is above 0");
}

void fuzz_cpu_list(const uint8_t* data, size_t size) {
  static cap_cpu_set set;
  static cap_cpu_set other;
  cap_cpu_set_clear(&other);
  cap_cpu_set_add_range(&other, 3, 100);
  if (!cap_cpu_set_parse(&set, (const char*)data, size)) return;
  uint32_t count = cap_cpu_set_count(&set);
  uint32_t both = cap_cpu_set_count_both(&set, &other);
  check(count <= SUKIMA_CAPACITY_MAX_CPUS && both <= count && both <= 98, "counts are in their bounds");
  static cap_cpu_set sum;
  cap_cpu_set_copy(&sum, &set);
  cap_cpu_set_unite(&sum, &other);
  check(cap_cpu_set_count(&sum) == count + 98 - both, "a sum has what is in one of two sets");
  check(cap_cpu_set_is_inside(&set, &sum) && cap_cpu_set_is_inside(&other, &sum), "a set is inside of a sum");
  check(cap_cpu_set_is_inside(&set, &other) == (count == both), "a set is inside if all is in common");
  cap_cpu_set_intersect(&set, &other);
  check(cap_cpu_set_count(&set) == both, "the intersection has the size that was counted");
}

void fuzz_status(const uint8_t* data, size_t size) {
  static cap_cpu_set set;
  if (!cap_cpu_set_parse_status(&set, (const char*)data, size)) return;
  check(memmem(data, size, "Cpus_allowed_list:", 18) != NULL, "there is no mask without its line");
  check(cap_cpu_set_count(&set) <= SUKIMA_CAPACITY_MAX_CPUS, "counts are in their bounds");
}

void fuzz_cgroup_line(const uint8_t* data, size_t size) {
  cap_text whole = text_of(data, size);
  cap_cgroup_line line;
  if (!cap_parse_cgroup_line(whole, &line)) return;
  check(is_inside(line.controllers, whole) && is_inside(line.path, whole), "the parts are inside the line");
  check(line.path.begin < line.path.end && *line.path.begin == '/', "a path starts with a slash");
  check(!cap_list_contains(line.controllers, "a,b"), "a name in a list has no comma");
}

void fuzz_mount_line(const uint8_t* data, size_t size) {
  cap_text whole = text_of(data, size);
  cap_mount_line line;
  if (!cap_parse_mount_line(whole, &line)) return;
  check(is_inside(line.root, whole) && is_inside(line.mount_point, whole) && is_inside(line.type, whole) &&
            is_inside(line.options, whole),
        "the parts are inside the line");
  char memory[32];
  cap_writer out = cap_writer_make(memory, sizeof memory);
  cap_unescape(line.mount_point, &out);
  check(out.length < sizeof memory && memory[out.length] == '\0', "the writer stays in its memory");
  check(out.length <= cap_text_length(&line.mount_point), "unescaping does not make a text longer");
}

// The first line is the root of a mount, the rest the path of a group.
void fuzz_relate(const uint8_t* data, size_t size) {
  cap_text group = text_of(data, size);
  cap_text root;
  cap_text below;
  if (!cap_text_take_until(&group, '\n', &root)) return;
  unsigned levels = 0;
  cap_relation relation = cap_relate(root, group, &below, &levels);
  check(is_inside(below, group), "what is below is a part of the group's path");
  check((levels != 0) == (relation == CAP_ABOVE), "levels are unknown only if the mount is above the group");
  if (relation == CAP_UNRELATED) {
    check(cap_text_length(&below) == 0, "there is no way down to a group that is somewhere else");
    return;
  }
  check(cap_path_depth(root) + (int)levels + cap_path_depth(below) == cap_path_depth(group),
        "the way down leads from the root's depth to the group's");
  cap_text part;
  while (cap_text_take_until(&below, '/', &part)) {
    check(!cap_text_equals(&part, ".."), "the way down does not lead upwards");
  }
  check(cap_relate(group, group, &below, &levels) == CAP_INSIDE && cap_text_length(&below) == 0,
        "nothing is below when both are the same");
}

void fuzz_stat(const uint8_t* data, size_t size) {
  uint64_t pid = UINT64_MAX;
  uint64_t policy = UINT64_MAX;
  if (!cap_parse_stat(text_of(data, size), &pid, &policy)) return;
  size_t blanks = 0;
  for (size_t i = size; i > 0 && data[i - 1] != ')'; i--) blanks += data[i - 1] == ' ';
  check(blanks >= 39, "39 blanks stand between the name, the second field, and the 41st");
}

void fuzz_cpus(const uint8_t* data, size_t size) {
  char* text = malloc(size + 1);
  if (text == NULL) return;
  if (size != 0) memcpy(text, data, size);
  text[size] = '\0';
  double value = -1;
  int result = sukima_capacity_parse_cpus(text, &value);
  free(text);
  check(result == 0 ? value > 0 && value <= SUKIMA_CAPACITY_MAX_CPUS : result == EINVAL && value == -1,
        "a number of CPUs is in its bounds, or it is an error and nothing is changed");
  sukima_capacity_policy policy = {SUKIMA_CAPACITY_FLOOR, 0, 0};
  uint32_t floor = sukima_capacity_threads(value, &policy);
  uint32_t ceiling = sukima_capacity_threads(value, NULL);
  check(floor >= 1 && floor <= ceiling && ceiling <= floor + 1, "floor and ceiling are neighbours");
  char memory[32];
  cap_writer out = cap_writer_make(memory, sizeof memory);
  cap_write_decimal(&out, value);
  check(!out.overflow && out.length > 0, "every number has a text");
}

// The first byte says which counter it is.
void fuzz_counters(const uint8_t* data, size_t size) {
  if (size == 0) return;
  cap_text rest = text_of(data + 1, size - 1);
  cap_schedstat schedstat = {1, 2, 3};
  cap_group_stat group;
  cap_machine_stat machine = {1, 2, 3};
  cap_task_stat task = {.state = '?'};
  uint64_t value = 77;
  int nice = 0;
  switch (data[0]) {
    case 's':
      if (!cap_schedstat_parse(rest.begin, cap_text_length(&rest), &schedstat)) {
        check(schedstat.run_ns == 1 && schedstat.slices == 3, "a failure changes nothing");
      }
      break;
    case 'g':
      if (!cap_parse_group_stat(rest, &group)) break;
      check(group.has_usage || group.usage_ns == 0, "there is no use without its line");
      check(group.periods == 0 || memmem(data, size, "nr_periods ", 11) != NULL,
            "no periods without their line");
      break;
    case 'm':
      if (!cap_parse_machine_stat(rest, &machine)) check(machine.idle == 2, "a failure changes nothing");
      break;
    case 'l':
      if (!cap_parse_running(rest, &value)) check(value == 77, "a failure changes nothing");
      break;
    case 'p':
      if (!cap_parse_pressure(rest, &value)) check(value == 77, "a failure changes nothing");
      break;
    case 'a':
      if (cap_parse_autogroup(rest, &value, &nice)) check(nice >= -1000 && nice <= 1000, "nice is small");
      break;
    case 't':
      if (!cap_parse_task_stat(rest, &task)) break;
      check(task.nice >= -20 && task.nice <= 19, "a nice value is one");
      check(memchr(task.name, '\0', sizeof task.name) != NULL, "a name ends");
      break;
    default:
      if (!cap_parse_count(rest, &value)) check(value == 77, "a failure changes nothing");
  }
}

void fuzz_host(const uint8_t* data, size_t size) {
  cap_host_message one = {1, 1};
  cap_host_message last = {1, 1};
  bool whole = cap_parse_host_message(text_of(data, size), &one);
  bool found = cap_find_last_host_message(text_of(data, size), &last);
  check(!whole || found, "a message is found where it stands alone");
  if (!found) return;
  check(last.usable > 0 && last.usable <= SUKIMA_CAPACITY_MAX_CPUS, "a number of CPUs is one");
  check(last.valid_seconds > 0 && last.valid_seconds <= 86400, "a message holds for a time");
}

void fuzz_times(const uint8_t* data, size_t size) {
  static uint64_t times[cap_most_samples];
  size_t count = cap_parse_sample_times((const char*)data, size, times);
  check(count <= cap_most_samples, "there are not too many samples");
  for (size_t i = 1; i < count; i++) check(times[i - 1] < times[i], "time does not go back");
  check(count == 0 || times[0] > 0, "a time is above 0");
}

void fuzz_profile(const uint8_t* data, size_t size) {
  char error[200] = "";
  sukima_capacity_profile* profile = cap_parse_profile(text_of(data, size), error, sizeof error);
  check((profile == NULL) == (error[0] != '\0'), "there is a profile or a reason");
  if (profile == NULL) return;
  check(profile->valid_seconds > 0, "a profile holds for a time");
  for (size_t i = 1; i < profile->cpu_count; i++) {
    check(profile->cpus[i - 1] < profile->cpus[i], "CPUs are in order");
  }
  for (size_t i = 0; i < profile->pair_count; i++) {
    const sukima_capacity_pair* pair = &profile->pairs[i];
    check(pair->first < pair->second && pair->slowdown >= 0 && pair->slowdown <= 1, "a pair is two CPUs");
    check(sukima_capacity_profile_pair(profile, pair->second, pair->first) != NULL, "a pair is found");
  }
  sukima_capacity_profile_free(profile);
}

// A file in memory whose path is written to `path`.
static int make_file(const uint8_t* data, size_t size, char path[64]) {
  int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0) return -1;
  if (size != 0 && write(descriptor, data, size) != (ssize_t)size) abort();
  snprintf(path, 64, "/proc/self/fd/%d", descriptor);
  return descriptor;
}

// Reads with very little memory and compares with what the lines must be.
void fuzz_lines(const uint8_t* data, size_t size) {
  enum { memory_size = 8 };
  char path[64];
  char memory[memory_size];
  int descriptor = make_file(data, size, path);
  if (descriptor < 0) return;
  cap_line_reader reader;
  check(cap_line_reader_open(&reader, path, memory, sizeof memory) == 0, "the file can be opened");
  cap_text rest = text_of(data, size);
  cap_text expected;
  size_t too_long = 0;
  while (cap_text_take_until(&rest, '\n', &expected)) {
    bool ended = expected.end < (const char*)data + size;
    // A line fits if it and its end do; at the end of the file, the memory must not be full either.
    if (cap_text_length(&expected) + (ended ? 1 : 0) > memory_size ||
        (!ended && cap_text_length(&expected) == memory_size)) {
      too_long++;
      continue;
    }
    cap_text line;
    check(cap_line_reader_next(&reader, &line), "no line is missing");
    check(cap_text_length(&line) == cap_text_length(&expected) &&
              (line.begin == line.end || memcmp(line.begin, expected.begin, cap_text_length(&line)) == 0),
          "a line is the same as in the file");
  }
  cap_text line;
  check(!cap_line_reader_next(&reader, &line), "there is no line too many");
  check(reader.too_long == too_long, "lines that are too long are counted");
  cap_line_reader_close(&reader);
  close(descriptor);
}

static const char* const tree_files[] = {"/proc/self/cgroup",
                                         "/proc/self/mountinfo",
                                         "/proc/self/status",
                                         "/proc/self/stat",
                                         "/sys/cpu.max",
                                         "/sys/cpu.weight",
                                         "/sys/cpu.cfs_quota_us",
                                         "/sys/cpu.cfs_period_us",
                                         "/sys/cpuset.cpus.effective",
                                         "/sys/devices/system/cpu/online",
                                         "/sys/cpu.stat",
                                         "/sys/cgroup.threads",
                                         "/sys/cpuacct.usage",
                                         "/proc/stat",
                                         "/proc/loadavg",
                                         "/proc/pressure/cpu",
                                         "/proc/self/task/4711/schedstat",
                                         "/proc/33/stat",
                                         "/proc/33/status",
                                         "/proc/33/schedstat"};
enum { tree_file_count = sizeof tree_files / sizeof tree_files[0] };

static char tree_root[] = "/dev/shm/sukima-fuzz-XXXXXX";

static void remove_tree(void) {
  static const char* const folders[] = {
      "/proc/self/task/4711",    "/proc/self/task",     "/proc/self",   "/proc/pressure", "/proc/33", "/proc",
      "/sys/devices/system/cpu", "/sys/devices/system", "/sys/devices", "/sys",           ""};
  char path[128];
  for (size_t i = 0; i < tree_file_count; i++) {
    snprintf(path, sizeof path, "%s%s", tree_root, tree_files[i]);
    unlink(path);
  }
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    snprintf(path, sizeof path, "%s%s", tree_root, folders[i]);
    rmdir(path);
  }
}

static void make_tree(void) {
  static const char* const folders[] = {
      "/proc",          "/proc/33", "/proc/self",   "/proc/self/task",     "/proc/self/task/4711",
      "/proc/pressure", "/sys",     "/sys/devices", "/sys/devices/system", "/sys/devices/system/cpu"};
  static bool made = false;
  if (made) return;
  if (mkdtemp(tree_root) == NULL) abort();
  char path[128];
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    snprintf(path, sizeof path, "%s%s", tree_root, folders[i]);
    if (mkdir(path, 0700) != 0) abort();
  }
  atexit(remove_tree);
  made = true;
}

// An estimator gives sensible numbers for any input.
static void try_estimator(const sukima_capacity_options* options) {
  sukima_capacity_estimator* estimator = sukima_capacity_estimator_open(options);
  if (estimator == NULL) return;
  for (uint64_t i = 1; i <= 4; i++) sukima_capacity_estimator_sample(estimator, i * 200000000);
  sukima_capacity_facts facts;
  sukima_capacity_estimator_facts(estimator, &facts);
  static const double numbers[] = {0, 1, 2.5, 100000};
  for (int i = 0; i < 4; i++) {
    sukima_capacity_estimate estimate;
    sukima_capacity_estimator_usable(estimator, numbers[i], &estimate);
    check(estimate.low <= estimate.usable && estimate.usable <= estimate.high,
          "an estimate is in its interval");
    check(estimate.usable > 0 && estimate.high <= facts.usable, "an estimate keeps to the facts");
  }
  sukima_capacity_report_free(sukima_capacity_estimator_explain(estimator));
  sukima_capacity_estimator_close(estimator);
}

// The contents of all files of a small tree, separated by the byte 0xff.
void fuzz_tree(const uint8_t* data, size_t size) {
  make_tree();
  const uint8_t* end = data + size;
  for (size_t i = 0; i < tree_file_count; i++) {
    const uint8_t* separator = size != 0 && data < end ? memchr(data, 0xff, (size_t)(end - data)) : NULL;
    const uint8_t* last = separator != NULL ? separator : end;
    char path[128];
    snprintf(path, sizeof path, "%s%s", tree_root, tree_files[i]);
    FILE* file = fopen(path, "w");
    if (file == NULL) abort();
    if (last > data) fwrite(data, 1, (size_t)(last - data), file);
    fclose(file);
    data = separator != NULL ? separator + 1 : end;
  }
  sukima_capacity_options options = {.root = tree_root, .override_text = ""};
  sukima_capacity_report* report = sukima_capacity_explain(&options);
  sukima_capacity_facts facts;
  check(sukima_capacity_read(&options, &facts) == 0, "no file makes reading fail");
  if (report == NULL) return;
  check(facts.usable > 0 && facts.usable <= facts.cap && facts.cap >= 1,
        "usable is above 0 and at most the cap");
  check(facts.usable <= facts.quota && facts.weight > 0, "no quota is exceeded");
  check(report->facts.usable == facts.usable && report->note_count == facts.note_count,
        "the report says what the facts say");
  for (size_t i = 0; i < report->limit_count; i++) {
    check(strlen(report->limits[i].file) > 0 && strlen(report->limits[i].text) > 0, "each limit has words");
  }
  sukima_capacity_report_free(report);
  try_estimator(&options);
}
