// SPDX-License-Identifier: Apache-2.0
// What is in the files of the kernel that tell about CPU: one pure function a format, for any bytes.
#ifndef SUKIMA_CAPACITY_PARSE_H
#define SUKIMA_CAPACITY_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/// A quota as it stands in the files.
typedef struct sukima_quota {
  bool limited;        ///< false for "max" and -1
  uint64_t quota_us;   ///< CPU time in each period; above 0 if limited
  uint64_t period_us;  ///< above 0
} sukima_quota;

/// cgroup v2's cpu.max: "150000 100000" or "max 100000".
bool sukima_parse_cpu_max(sukima_text content, sukima_quota* quota);

/// cgroup v1's cpu.cfs_quota_us: a number above 0, or a negative one for no quota. Sets all but the period.
bool sukima_parse_cfs_quota(sukima_text content, sukima_quota* quota);

/// A file that holds one number above 0: cpu.cfs_period_us, cpu.shares, cpu.weight.
bool sukima_parse_positive(sukima_text content, uint64_t* value);

/// A line of /proc/PID/cgroup, "4:cpu,cpuacct:/path".
typedef struct sukima_cgroup_line {
  uint64_t hierarchy;       ///< 0 is version 2
  sukima_text controllers;  ///< "cpu,cpuacct", "name=systemd", "" for version 2
  sukima_text path;         ///< starts with '/'; the mark of a removed group is cut off
} sukima_cgroup_line;

bool sukima_parse_cgroup_line(sukima_text line, sukima_cgroup_line* result);

/// The name is one of the names in a list separated by commas.
bool sukima_list_contains(sukima_text list, const char* name);

/// A line of /proc/PID/mountinfo. Paths are still escaped (see sukima_unescape).
typedef struct sukima_mount_line {
  sukima_text root;         ///< which directory of the mounted file system
  sukima_text mount_point;  ///< where it is mounted
  sukima_text type;         ///< "cgroup", "cgroup2", "ext4", …
  sukima_text options;      ///< of the file system: "rw,cpu,cpuacct"
} sukima_mount_line;

bool sukima_parse_mount_line(sukima_text line, sukima_mount_line* result);

/// Writes a text of mountinfo with its octal escapes ("\040" is a blank) replaced.
void sukima_unescape(sukima_text text, sukima_writer* out);

/// How a group's path relates to the directory that a cgroup mount shows.
typedef enum sukima_relation {
  SUKIMA_INSIDE,    ///< the group is this directory or inside it; the rest of the path says where
  SUKIMA_ABOVE,  ///< the directory is some levels above the group, and the names between them are not known
  SUKIMA_UNRELATED  ///< the mount does not show the group
} sukima_relation;

/// Compares the root of a mount and the path of a group. Both may start with "/.." components where they
/// leave the reader's cgroup namespace.
/// \param below  gets the known end of the way from the directory to the group: "" or "/a/b"
/// \param levels gets the number of levels in front of it whose names are not known: 0 unless SUKIMA_ABOVE
sukima_relation sukima_relate(sukima_text mount_root, sukima_text group, sukima_text* below,
                              unsigned* levels);

/// How deep a path leads: its names less its ".." components.
int sukima_path_depth(sukima_text path);

/// The process's number and its scheduling policy in /proc/PID/stat (its first and its 41st field).
bool sukima_parse_stat(sukima_text content, uint64_t* pid, uint64_t* policy);

#endif
