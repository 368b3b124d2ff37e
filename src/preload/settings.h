// SPDX-License-Identifier: Apache-2.0
// What `sukima run` tells the preloaded library, in one environment variable.
#ifndef SUKIMA_PRELOAD_SETTINGS_H
#define SUKIMA_PRELOAD_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/// The variable: words "NAME=NUMBER" with one blank between them, and at the end perhaps "log=FILE" (up to
/// the end of the text, so that the name of the file may have blanks).
#define PRELOAD_VARIABLE "SUKIMA_RUN"

/// When OpenMP programs change their number of threads between parallel regions.
enum preload_resize {
  preload_resize_never = 0,
  preload_resize_auto = 1,  ///< unless the program has asked how many threads it will get
  preload_resize_always = 2,  ///< also then
};

/// How OpenMP's idle threads wait.
enum preload_waiting {
  preload_waiting_untouched = 0,  ///< as the user says
  preload_waiting_enough = 1,  ///< there was enough CPU at the start: they may spin, until that changes
  preload_waiting_short = 2,   ///< there was not
  preload_waiting_asleep = 3,  ///< there is not, and nothing that a thread sees would say when there is
};

/// What the library is to do.
struct preload_settings {
  uint32_t threads;  ///< the number that was decided at the start, at least 1; 0: the library does nothing
  uint32_t minimum;  ///< never fewer than this, at least 1
  uint32_t maximum;  ///< never more than this; 0 is no limit
  uint32_t rounding;  ///< a value of sukima_capacity_rounding
  uint32_t ranks;  ///< MPI ranks of this machine that `threads` is the share of; 0 counts as 1
  double reserve;  ///< CPUs that are left to others
  bool fixed;  ///< the user gave the number: it never changes
  enum preload_resize resize;
  enum preload_waiting waiting;
  /// How many threads OpenMP's regions begin with, because most programs sleep at their barriers;
  /// 0: `threads`.
  uint32_t team;
  uint32_t cpus;  ///< how many threads may run at the same moment; 0 is unknown
  uint32_t first;  ///< which of the allowed CPUs an answered affinity mask begins with
  const char* log;  ///< where decisions are written, part of the text that was understood; NULL: nowhere
};

/// Understands the variable's value. What is not understood makes the library do nothing: who starts a
/// program by hand with a wrong value gets that program as it would have been without it.
/// \param text  the value; it must outlive the settings; NULL gives "do nothing"
/// \return whether the settings ask for anything
bool preload_read_settings(const char* text, struct preload_settings* settings);

#endif
