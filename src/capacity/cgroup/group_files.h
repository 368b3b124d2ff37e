// SPDX-License-Identifier: Apache-2.0
// Reads the files of one control group: quota, weight, use and throttling, in both versions. To read another
// file of a group, add its function here. Internal to the capacity part.
#ifndef SUKIMA_CAPACITY_CGROUP_GROUP_FILES_H
#define SUKIMA_CAPACITY_CGROUP_GROUP_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/parse.h"
#include "limits/reader.h"
#include "text/counters.h"

/// The result of reading a setting. reader->path is the path of the file to which it refers.
typedef struct cap_group_reading {
  int error;  ///< 0, or the result of cap_file_read()
  bool needed;  ///< the file must exist, because another file refers to it
  const char* malformed;  ///< a sentence about malformed content; NULL: the content is well-formed
  uint32_t files;  ///< how many files were read successfully
} cap_group_reading;

/// Whether the setting was read without an error, so that it is known.
bool cap_group_was_read(const cap_group_reading* reading);

/// Reads cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us. Uses reader->content, as all functions here do.
cap_group_reading cap_group_read_quota(cap_reader* reader, const char* directory, bool v2, cap_quota* quota);

/// A group's weight relative to its siblings.
typedef struct cap_weight {
  uint64_t number;  ///< the number in the file
  bool idle;  ///< the group gets only CPU that no other group wants; version 2 shows it as weight 0
  double relative;  ///< 1.0 is the kernel's default
} cap_weight;

/// Reads cpu.weight or cpu.shares.
cap_group_reading cap_group_read_weight(cap_reader* reader, const char* directory, bool v2,
                                        cap_weight* weight);

/// Reads cpu.stat: use (version 2) and throttling.
bool cap_group_read_stat(cap_reader* reader, const char* directory, cap_group_stat* stat);

/// Reads cpuacct.usage (version 1).
bool cap_group_read_cpuacct(cap_reader* reader, const char* directory, uint64_t* usage_ns);

/// Writes the path of a group's file to reader->path; `name` starts with '/'.
/// \return false if the path is too long
bool cap_group_make_path(cap_reader* reader, const char* directory, const char* name);

/// Opens a group's file for repeated reading; see cap_file_open().
int cap_group_open_file(cap_reader* reader, const char* directory, const char* name);

#endif
