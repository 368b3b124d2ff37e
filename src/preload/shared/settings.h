// SPDX-License-Identifier: Apache-2.0
// The settings that `sukima run` hands to the preload library in one environment variable: writer and reader.
#ifndef SUKIMA_PRELOAD_SHARED_SETTINGS_H
#define SUKIMA_PRELOAD_SHARED_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The variable: words "NAME=NUMBER" with one blank between them, optionally followed by "log=FILE", which
/// extends to the end of the text, so that the name of the file may contain blanks.
#define PRELOAD_VARIABLE "SUKIMA_RUN"

/// The name of the log's file in memory (memfd_create).
#define PRELOAD_LOG_NAME "sukima-run-decisions"

/// When OpenMP programs change their number of threads between parallel regions. OpenMP guarantees them one
/// number, so this is for the user to allow.
enum preload_resize {
  preload_resize_never = 0,
  preload_resize_unless_asked = 1,  ///< until the program asks how many threads it will get
  preload_resize_always = 2,  ///< also then
};

/// How OpenMP's idle threads wait.
enum preload_waiting {
  preload_waiting_untouched = 0,  ///< as the user says
  preload_waiting_enough = 1,  ///< there was enough CPU at the start: they may spin, until that changes
  preload_waiting_short = 2,  ///< CPU was short at the start: they sleep, until that changes
  preload_waiting_asleep = 3,  ///< they sleep: threads could not see the end of this shortage (steal time)
};

/// The settings of the library. The log's name aside, each is a number below 10^9.
struct preload_settings {
  uint32_t threads;  ///< the number that was decided at the start, at least 1; 0: the library does nothing
  /// For threads that wait actively for each other, in the program's own code; 0: `threads`.
  uint32_t active;
  uint32_t minimum;  ///< never fewer than this, at least 1
  uint32_t maximum;  ///< never more than this; 0 is no limit
  uint32_t rounding;  ///< a value of sukima_capacity_rounding
  uint32_t reserve_thousandths;  ///< of a CPU, left to others
  uint32_t fixed;  ///< not 0: the user gave the number, it never changes
  uint32_t resize;  ///< a value of preload_resize
  uint32_t waiting;  ///< a value of preload_waiting
  uint32_t cpus;  ///< how many threads may run at the same moment; 0 is unknown
  uint32_t ranks;  ///< MPI ranks of this machine that `threads` is the share of; 0 counts as 1
  uint32_t first;  ///< which of the allowed CPUs an answered affinity mask begins with
  const char* log;  ///< where decisions are written, part of the text that was read; NULL: nowhere
};

/// Writes the variable's value, without `log`.
/// \param text gets it, cut off if it does not fit; always ends with a zero unless `size` is 0
/// \return its whole length, as snprintf()
size_t preload_write_settings(const struct preload_settings* settings, char* text, size_t size);

/// Reads the variable's value. A malformed value makes the library do nothing: a program started by hand with
/// a wrong value runs as it would without it.
/// \param text  the value; it must outlive the settings; NULL gives "do nothing"
/// \return whether the settings ask for anything
bool preload_read_settings(const char* text, struct preload_settings* settings);

/// How many MPI ranks share this machine with this process, itself included, by the variables that Open MPI
/// and MPICH set; 1 outside MPI.
uint32_t preload_count_ranks(void);

#ifdef __cplusplus
}
#endif

#endif
