// SPDX-License-Identifier: Apache-2.0
// The settings and counters of any control group that can be seen as a directory: for hosts, which look at
// the groups of their containers and virtual machines.
//
// Headers in shared/ are for the other parts of this project, as <capacity/shared/…>; they are not installed.
#ifndef SUKIMA_CAPACITY_SHARED_GROUP_H
#define SUKIMA_CAPACITY_SHARED_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The CPU settings and counters in the files of one group, without those of the groups above it.
typedef struct cap_group_facts {
  double quota;  ///< CPUs; infinite if there is none, or no file says
  double weight;  ///< 1.0 is the kernel's default; 0 if no file says
  bool has_usage;  ///< whether usage_ns is known
  bool has_throttling;  ///< whether throttled_ns is known
  bool has_pressure;  ///< whether some_waited_ns is known
  uint64_t usage_ns;  ///< CPU time of the group and all groups below it
  uint64_t throttled_ns;  ///< its own quota held it back: summed over CPUs
  uint64_t some_waited_ns;  ///< time in which at least one thread waited for a CPU
} cap_group_facts;

/// Reads a group without malloc or stdio, and leaves no file open.
/// \param directory of the controller cpu \param accounting of the controller cpuacct, in which version 1
/// counts the use; NULL for version 2 \param v2 the version
/// \return false if none of the files could be read: there is no such group
/// \par Complexity at most 15 system calls
bool cap_group_facts_read(const char* directory, const char* accounting, bool v2, cap_group_facts* result);

#ifdef __cplusplus
}
#endif

#endif
