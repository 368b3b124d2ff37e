// SPDX-License-Identifier: Apache-2.0
// The number of threads that this process should have now. The replaced functions return it.
#ifndef SUKIMA_PRELOAD_DECISION_H
#define SUKIMA_PRELOAD_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/settings.h"

/// The settings, read from the environment at the first call; `threads` is 0 if the library has nothing to
/// do.
const struct preload_settings* preload_current_settings(void);

/// The number of threads that fits: the number decided at the start, adapted to limits that have changed
/// since. At most every 200 ms, a call reads the limits again. Any thread may call it; it preserves errno. 0:
/// nothing to do.
uint32_t preload_threads(void);

/// The number of threads above which more threads gain nothing, by the latest limits; 0 if none were read.
uint32_t preload_most_useful(void);

/// The monotonic clock, in nanoseconds.
uint64_t preload_now(void);

/// Writes one line about a decision to the log of `sukima run --report`: the time, this process, the
/// program's name and the text. Does nothing without a log.
void preload_note(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
