// SPDX-License-Identifier: Apache-2.0
// Writes and reads the settings that `sukima run` passes to the preload library in one environment variable.
#ifndef SUKIMA_PRELOAD_SHARED_SETTINGS_H
#define SUKIMA_PRELOAD_SHARED_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The variable. It contains words "NAME=NUMBER", separated by one blank. After them there may be "log=FILE",
/// which extends to the end of the text, so that the name of the file may contain blanks.
#define PRELOAD_VARIABLE "SUKIMA_RUN"

/// The name of the log, which is a file in memory (memfd_create).
#define PRELOAD_LOG_NAME "sukima-run-decisions"

/// When OpenMP programs change their number of threads between parallel regions. OpenMP guarantees them one
/// number, so the user must allow such changes.
enum preload_resize {
  preload_resize_never = 0,
  preload_resize_unless_asked = 1,  ///< until the program queries how many threads it will get
  preload_resize_always = 2,  ///< even after such a query
};

/// How OpenMP's idle threads wait.
enum preload_waiting {
  preload_waiting_untouched = 0,  ///< as the user has set
  preload_waiting_enough = 1,  ///< there was enough CPU at the start: they may spin until that changes
  preload_waiting_short = 2,  ///< CPU was short at the start: they sleep until that changes
  preload_waiting_asleep = 3,  ///< they always sleep: threads cannot detect the end of steal time
};

/// The settings of the library. All but the log's name are numbers below 10^9.
struct preload_settings {
  uint32_t threads;  ///< the number decided at the start, at least 1; 0: the library does nothing
  /// The number if threads wait actively for each other in the program's own code; 0: `threads`.
  uint32_t active;
  uint32_t minimum;  ///< the smallest number, at least 1
  uint32_t maximum;  ///< the largest number; 0: no limit
  uint32_t rounding;  ///< a value of sukima_capacity_rounding
  uint32_t reserve_thousandths;  ///< thousandths of a CPU that are left to other programs
  uint32_t fixed;  ///< not 0: the user gave the number, and it never changes
  uint32_t resize;  ///< a value of preload_resize
  uint32_t waiting;  ///< a value of preload_waiting
  uint32_t cpus;  ///< how many threads may run at the same moment; 0: unknown
  uint32_t ranks;  ///< MPI ranks of this machine among which `threads` was divided; 0 counts as 1
  uint32_t first;  ///< the position of the first CPU of a narrowed affinity mask among the allowed CPUs
  const char* log;  ///< the path of the log, a part of the text that was read; NULL: no log
};

/// Writes the variable's value, without `log`.
/// \param text gets the value, truncated if it does not fit; always ends with a zero unless `size` is 0
/// \return the length of the whole value, as snprintf()
size_t preload_write_settings(const struct preload_settings* settings, char* text, size_t size);

/// Reads the variable's value. If it is malformed, the library does nothing, so a program that a user starts
/// with a wrong value runs as without it.
/// \param text  the value; it must outlive the settings; NULL: the library does nothing
/// \return whether the library has anything to do
bool preload_read_settings(const char* text, struct preload_settings* settings);

#ifdef __cplusplus
}
#endif

#endif
