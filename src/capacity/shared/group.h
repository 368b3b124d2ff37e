// SPDX-License-Identifier: Apache-2.0
// The settings and counters of any control group that is visible as a directory. Host commands use it for the
// groups of their containers and virtual machines.
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
  double quota;  ///< CPUs; infinite without a quota, or if no file states it
  double weight;  ///< 1.0 is the kernel's default; 0 if no file states it
  bool has_usage;  ///< whether usage_ns is known
  bool has_throttling;  ///< whether throttled_ns is known
  bool has_pressure;  ///< whether some_waited_ns is known
  uint64_t usage_ns;  ///< CPU time of the group and all groups below it
  uint64_t throttled_ns;  ///< how long its own quota throttled it, summed over CPUs
  uint64_t some_waited_ns;  ///< time in which at least one thread waited for a CPU
} cap_group_facts;

/// Reads a group without malloc or stdio, and leaves no file open.
/// \param directory in the hierarchy of the controller cpu
/// \param accounting the directory in that of the controller cpuacct, which counts the use in version 1; NULL
/// for version 2
/// \param v2 whether the hierarchy is version 2
/// \return false if no file could be read, so that there is no such group
/// \par Complexity at most 15 system calls
bool cap_group_facts_read(const char* directory, const char* accounting, bool v2, cap_group_facts* result);

#ifdef __cplusplus
}
#endif

#endif
