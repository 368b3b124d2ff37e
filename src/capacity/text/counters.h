// SPDX-License-Identifier: Apache-2.0
// Parses the kernel's files that count CPU time: one pure function for each format, for any bytes.
#ifndef SUKIMA_CAPACITY_TEXT_COUNTERS_H
#define SUKIMA_CAPACITY_TEXT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "text/text.h"

/// The file cpu.stat of a control group. A value that is missing in the file is 0.
typedef struct cap_group_stat {
  bool has_usage;         ///< version 2 only
  uint64_t usage_ns;      ///< CPU time of the group and all groups below it
  uint64_t throttled_ns;  ///< how long a quota throttled it, summed over CPUs
  uint64_t periods;  ///< periods of the quota in which the group wanted CPU
  uint64_t throttled_periods;  ///< of these, the periods in which it was throttled
} cap_group_stat;

/// \return false if the file has no known line
bool cap_parse_group_stat(cap_text content, cap_group_stat* result);

/// A file that contains one number: cpuacct.usage, cpu.idle.
bool cap_parse_count(cap_text content, uint64_t* value);

/// The first line of /proc/stat, in ticks summed over all CPUs.
typedef struct cap_machine_stat {
  uint64_t busy;    ///< user, nice, system, interrupts
  uint64_t idle;    ///< idle, and waiting for devices
  uint64_t stolen;  ///< taken by the hypervisor while a CPU was wanted
} cap_machine_stat;

/// Needs only the first line.
bool cap_parse_machine_stat(cap_text content, cap_machine_stat* result);

/// The number of runnable threads in /proc/loadavg ("0.5 0.6 1.3 2/345 6789").
bool cap_parse_running(cap_text content, uint64_t* running);

/// The total in the line "some" of a pressure file, in microseconds.
bool cap_parse_pressure(cap_text content, uint64_t* some_us);

/// /proc/PID/autogroup: "/autogroup-86 nice 0".
bool cap_parse_autogroup(cap_text content, uint64_t* number, int* nice);

/// The process's number and its scheduling policy in /proc/PID/stat (its first and its 41st field).
bool cap_parse_stat(cap_text content, uint64_t* pid, uint64_t* policy);

/// Fields of /proc/PID/stat.
typedef struct cap_task_stat {
  char state;       ///< 'R': it runs or waits for a CPU
  int nice;         ///< -20 to 19
  uint64_t policy;  ///< SCHED_…
  char name[16];    ///< of the thread: usually its program's name, truncated
} cap_task_stat;

bool cap_parse_task_stat(cap_text content, cap_task_stat* result);

#endif
