// SPDX-License-Identifier: Apache-2.0
// Parses the kernel's files about control groups and mounts: one pure function for each format, for any
// bytes.
#ifndef SUKIMA_CAPACITY_CGROUP_PARSE_H
#define SUKIMA_CAPACITY_CGROUP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/text.h"

/// A quota as in the kernel's files.
typedef struct cap_quota {
  bool limited;  ///< false for "max" and -1
  uint64_t quota_us;  ///< CPU time in each period; above 0 if limited
  uint64_t period_us;  ///< above 0
} cap_quota;

/// cgroup v2's cpu.max: "150000 100000" or "max 100000".
bool cap_parse_cpu_max(cap_text content, cap_quota* quota);

/// cgroup v1's cpu.cfs_quota_us: a number above 0, or a negative one for no quota. Does not set the period.
bool cap_parse_cfs_quota(cap_text content, cap_quota* quota);

/// A file that contains one number above 0: cpu.cfs_period_us, cpu.shares, cpu.weight.
bool cap_parse_positive(cap_text content, uint64_t* value);

/// A line of /proc/PID/cgroup, "4:cpu,cpuacct:/path".
typedef struct cap_cgroup_line {
  uint64_t hierarchy;  ///< 0 is version 2
  cap_text controllers;  ///< "cpu,cpuacct", "name=systemd", "" for version 2
  cap_text path;  ///< starts with '/'; without the mark of a removed group
} cap_cgroup_line;

bool cap_parse_cgroup_line(cap_text line, cap_cgroup_line* result);

/// Whether the name is in a list separated by commas.
bool cap_list_contains(cap_text list, const char* name);

/// A line of /proc/PID/mountinfo. Paths are still escaped (see cap_unescape).
typedef struct cap_mount_line {
  uint64_t number;  ///< of the mount; 0 if it is malformed
  uint64_t parent;  ///< number of the mount that it is mounted on; 0 if it is malformed
  cap_text root;  ///< the directory of the mounted file system that is shown
  cap_text mount_point;  ///< the directory at which it is mounted
  cap_text type;  ///< "cgroup", "cgroup2", "ext4", …
  cap_text options;  ///< options of the file system: "rw,cpu,cpuacct"
} cap_mount_line;

bool cap_parse_mount_line(cap_text line, cap_mount_line* result);

/// Writes a text from mountinfo, and replaces its octal escapes ("\040" is a blank).
void cap_unescape(cap_text text, cap_writer* out);

/// The relation of a group's path to the directory that a cgroup mount shows.
typedef enum cap_relation {
  CAP_INSIDE,  ///< the group is this directory or inside it; the rest of the path is its position
  CAP_ABOVE,  ///< the directory is some levels above the group, and the names between them are unknown
  CAP_UNRELATED  ///< the mount does not show the group
} cap_relation;

/// Compares the root of a mount with the path of a group. Both may start with "/.." components if they are
/// outside the reader's cgroup namespace.
/// \param below  gets the known end of the path from the directory to the group: "" or "/a/b"
/// \param levels gets the number of levels before it whose names are unknown: 0 unless CAP_ABOVE
cap_relation cap_relate(cap_text mount_root, cap_text group, cap_text* below, unsigned* levels);

/// The depth to which a path leads: the number of its names minus the number of its ".." components.
int cap_path_depth(cap_text path);

#endif
