// SPDX-License-Identifier: Apache-2.0
// How many threads this process should have now: the number that the preload library answers with.
#ifndef SUKIMA_PRELOAD_DECISION_H
#define SUKIMA_PRELOAD_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/settings.h"

/// The settings, read from the environment at the first call; `threads` is 0 where there is nothing to do.
const struct preload_settings* preload_current_settings(void);

/// The number of threads that fits: the one decided at the start, adapted to limits that have changed since.
/// At most every 200 ms a call reads the limits again. From any thread; keeps errno. 0: nothing to do.
uint32_t preload_threads(void);

/// Number of threads above which the limits that were read last leave no gain; 0 if none were read.
uint32_t preload_most_useful(void);

/// The monotonic clock, in nanoseconds.
uint64_t preload_now(void);

/// Writes one line on what was decided to the log of `sukima run --report`: the time, this process, the
/// program's name and the text. Does nothing without a log.
void preload_note(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
