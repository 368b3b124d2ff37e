// SPDX-License-Identifier: Apache-2.0
// Reading the files of one control group: quota, weight, use and throttling, in both versions. To read
// another file of a group, add its function here. Internal to the capacity part.
#ifndef SUKIMA_CAPACITY_CGROUP_GROUP_FILES_H
#define SUKIMA_CAPACITY_CGROUP_GROUP_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/parse.h"
#include "limits/reader.h"
#include "text/counters.h"

/// How reading a setting went. reader->path is the file that it is about.
typedef struct cap_group_reading {
  int error;  ///< 0, or the result of cap_file_read()
  bool needed;  ///< the file has to exist, because another one refers to it
  const char* malformed;  ///< a sentence about content that was not understood; NULL if it was
  uint32_t files;  ///< how many files could be read
} cap_group_reading;

/// Nothing went wrong: the setting is known.
bool cap_group_was_read(const cap_group_reading* reading);

/// Reads cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us. Uses reader->content, as all functions here do.
cap_group_reading cap_group_read_quota(cap_reader* reader, const char* directory, bool v2, cap_quota* quota);

/// A group's share of CPU beside its siblings.
typedef struct cap_weight {
  uint64_t number;  ///< as the file has it
  bool idle;  ///< the group gets only what no other group wants; version 2 shows it as weight 0
  double relative;  ///< 1.0 is the kernel's default
} cap_weight;

/// Reads cpu.weight or cpu.shares.
cap_group_reading cap_group_read_weight(cap_reader* reader, const char* directory, bool v2,
                                        cap_weight* weight);

/// Reads cpu.stat: use (version 2) and throttling.
bool cap_group_read_stat(cap_reader* reader, const char* directory, cap_group_stat* stat);

/// Reads cpuacct.usage (version 1).
bool cap_group_read_cpuacct(cap_reader* reader, const char* directory, uint64_t* usage_ns);

/// Makes the path of a group's file in reader->path; `name` starts with '/'.
/// \return false if it is too long
bool cap_group_make_path(cap_reader* reader, const char* directory, const char* name);

/// Opens a group's file to be read again and again; see cap_file_open().
int cap_group_open_file(cap_reader* reader, const char* directory, const char* name);

#endif
