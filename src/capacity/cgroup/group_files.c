// SPDX-License-Identifier: Apache-2.0
// Reads the files of one control group; see group_files.h.
#include "cgroup/group_files.h"

#include <errno.h>
#include <stddef.h>

#include "estimate/fair_share.h"
#include "text/file.h"

bool cap_group_make_path(cap_reader* reader, const char* directory, const char* name) {
  cap_writer out = cap_writer_make(reader->path, sizeof reader->path);
  cap_write(&out, directory);
  cap_write(&out, name);
  return !out.overflow;
}

int cap_group_open_file(cap_reader* reader, const char* directory, const char* name) {
  return cap_group_make_path(reader, directory, name) ? cap_file_open(reader->path) : -1;
}

// Reads a file and records the result in `reading`. \return false if the file could not be read
static bool read_file(cap_reader* reader, const char* directory, const char* name, cap_text* content,
                      cap_group_reading* reading) {
  // A path that is too long for this memory is too long for the kernel, so there is no such file.
  reading->error = cap_group_make_path(reader, directory, name)
                       ? cap_file_read(reader->path, reader->content, sizeof reader->content, content)
                       : ENOENT;
  if (reading->error == cap_file_read_ok) reading->files++;
  return reading->error == cap_file_read_ok;
}

bool cap_group_was_read(const cap_group_reading* reading) {
  return reading->error == cap_file_read_ok && reading->malformed == NULL;
}

static void read_v2_quota(cap_reader* reader, const char* directory, cap_quota* quota,
                          cap_group_reading* reading) {
  cap_text content;
  if (!read_file(reader, directory, "/cpu.max", &content, reading)) return;
  if (!cap_parse_cpu_max(content, quota)) {
    reading->malformed = "does not hold a quota such as '150000 100000' or 'max 100000'; it is ignored";
  }
}

static void read_v1_quota(cap_reader* reader, const char* directory, cap_quota* quota,
                          cap_group_reading* reading) {
  cap_text content;
  if (!read_file(reader, directory, "/cpu.cfs_quota_us", &content, reading)) return;
  if (!cap_parse_cfs_quota(content, quota)) {
    reading->malformed = "does not hold a quota such as 150000 or -1; it is ignored";
    return;
  }
  if (!quota->limited) return;
  reading->needed = true;
  if (!read_file(reader, directory, "/cpu.cfs_period_us", &content, reading)) return;
  reading->files--;  // read only beside a quota; a lifted quota must not look like a missing file
  if (!cap_parse_positive(content, &quota->period_us)) {
    reading->malformed = "does not hold a period such as 100000; it and the quota are ignored";
    return;
  }
  cap_group_make_path(reader, directory, "/cpu.cfs_quota_us");
}

cap_group_reading cap_group_read_quota(cap_reader* reader, const char* directory, bool v2, cap_quota* quota) {
  cap_group_reading reading = {0};
  (v2 ? read_v2_quota : read_v1_quota)(reader, directory, quota, &reading);
  return reading;
}

cap_group_reading cap_group_read_weight(cap_reader* reader, const char* directory, bool v2,
                                        cap_weight* weight) {
  cap_group_reading reading = {0};
  cap_text content;
  if (!read_file(reader, directory, v2 ? "/cpu.weight" : "/cpu.shares", &content, &reading)) return reading;
  weight->idle = v2 && cap_parse_count(content, &weight->number) && weight->number == 0;
  if (!weight->idle && !cap_parse_positive(content, &weight->number)) {
    reading.malformed = "does not hold a number above 0; it is ignored";
    return reading;
  }
  weight->relative = weight->idle ? cap_idle_weight() : (double)weight->number / (v2 ? 100 : 1024);
  return reading;
}

bool cap_group_read_stat(cap_reader* reader, const char* directory, cap_group_stat* stat) {
  cap_group_reading reading = {0};
  cap_text content;
  return read_file(reader, directory, "/cpu.stat", &content, &reading) && cap_parse_group_stat(content, stat);
}

bool cap_group_read_cpuacct(cap_reader* reader, const char* directory, uint64_t* usage_ns) {
  cap_group_reading reading = {0};
  cap_text content;
  return read_file(reader, directory, "/cpuacct.usage", &content, &reading) &&
         cap_parse_count(content, usage_ns);
}
