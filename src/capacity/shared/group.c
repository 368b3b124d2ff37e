// SPDX-License-Identifier: Apache-2.0
// Reads any control group; see group.h.
#include "shared/group.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "cgroup/parse.h"
#include "estimate/fair_share.h"
#include "text/counters.h"
#include "text/file.h"

enum { most_path = 4096, most_bytes = 4096 };

// Reads a file of the group into `memory`.
static bool read_file(const char* directory, const char* name, char* memory, cap_text* content) {
  char path[most_path];
  cap_writer out = cap_writer_make(path, sizeof path);
  cap_write(&out, directory);
  cap_write(&out, name);
  return !out.overflow && cap_file_read(path, memory, most_bytes, content) == cap_file_read_ok;
}

static bool read_quota(const char* directory, bool v2, char* memory, double* result) {
  cap_text content;
  cap_quota quota = {0};
  if (!read_file(directory, v2 ? "/cpu.max" : "/cpu.cfs_quota_us", memory, &content)) return false;
  if (!(v2 ? cap_parse_cpu_max : cap_parse_cfs_quota)(content, &quota) || !quota.limited) return true;
  if (!v2 && (!read_file(directory, "/cpu.cfs_period_us", memory, &content) ||
              !cap_parse_positive(content, &quota.period_us)))
    return true;
  *result = (double)quota.quota_us / (double)quota.period_us;
  return true;
}

static bool read_weight(const char* directory, bool v2, char* memory, double* result) {
  cap_text content;
  uint64_t number = 0;
  if (!read_file(directory, v2 ? "/cpu.weight" : "/cpu.shares", memory, &content)) return false;
  if (v2 && cap_parse_count(content, &number) && number == 0)
    *result = cap_idle_weight();
  else if (cap_parse_positive(content, &number))
    *result = (double)number / (v2 ? 100 : 1024);
  return true;
}

bool cap_group_facts_read(const char* directory, const char* accounting, bool v2, cap_group_facts* result) {
  const int saved = errno;
  char memory[most_bytes];
  cap_text content;
  cap_group_stat stat;
  *result = (cap_group_facts){.quota = INFINITY};
  bool found = read_quota(directory, v2, memory, &result->quota);
  found = read_weight(directory, v2, memory, &result->weight) || found;
  if (read_file(directory, "/cpu.stat", memory, &content) && cap_parse_group_stat(content, &stat)) {
    found = true;
    result->has_throttling = true;
    result->throttled_ns = stat.throttled_ns;
    result->has_usage = stat.has_usage;
    result->usage_ns = stat.usage_ns;
  }
  if (!result->has_usage && accounting != NULL && read_file(accounting, "/cpuacct.usage", memory, &content)) {
    result->has_usage = cap_parse_count(content, &result->usage_ns);
    found = found || result->has_usage;
  }
  uint64_t some_us = 0;
  if (read_file(directory, "/cpu.pressure", memory, &content) && cap_parse_pressure(content, &some_us)) {
    result->has_pressure = true;
    result->some_waited_ns = some_us * 1000;
  }
  errno = saved;
  return found;
}
