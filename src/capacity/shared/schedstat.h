// SPDX-License-Identifier: Apache-2.0
// How long a thread has run and waited for a CPU. Only this code reads the kernel's schedstat files.
//
// Headers in shared/ are for the other parts of this project, as <capacity/shared/…>; they are not installed.
#ifndef SUKIMA_CAPACITY_SHARED_SCHEDSTAT_H
#define SUKIMA_CAPACITY_SHARED_SCHEDSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The three numbers of a schedstat file, counted since the thread started.
typedef struct cap_schedstat {
  uint64_t run_ns;  ///< time on a CPU
  uint64_t wait_ns;  ///< runnable without a CPU, including pauses by a quota; added when the wait ends
  uint64_t slices;  ///< how often the thread was put on a CPU
} cap_schedstat;

/// Parses the content of a schedstat file, which need not end with a zero.
/// \return false if it is malformed; then `result` is unchanged
bool cap_schedstat_parse(const char* content, size_t length, cap_schedstat* result);

/// Reads /proc/self/task/THREAD/schedstat without malloc or stdio, and leaves no file open.
/// \param thread a thread of this process, as numbered by gettid()
/// \return false if there is no such thread, or the kernel does not count these times (CONFIG_SCHED_INFO);
///   then `result` is unchanged
/// \par Complexity three system calls
bool cap_schedstat_read(pid_t thread, cap_schedstat* result);

/// Reads an open schedstat file from its beginning, by one system call, for callers in a tight loop.
/// \return false as above
bool cap_schedstat_read_open(int descriptor, cap_schedstat* result);

#ifdef __cplusplus
}
#endif

#endif
