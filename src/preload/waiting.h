// SPDX-License-Identifier: Apache-2.0
// Controls how OpenMP's idle threads wait: they spin while each has a CPU of its own, and sleep while CPU is
// short.
#ifndef SUKIMA_PRELOAD_WAITING_H
#define SUKIMA_PRELOAD_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/// Must be called when a region begins. The first region starts the wait monitor. That is a thread that
/// samples, 20 to 100 times per second while there are regions, how long the thread that began the latest
/// region waits for a CPU. It changes the way of waiting when CPU becomes short or is no longer short. It
/// ends about a second after the last region, and the next region starts it again.
/// \param threads the number of threads that regions have now; 0: unknown
/// \param caller  an address inside the caller, to find its runtime
/// \return the argument for preload_waiting_region_ends
uint32_t preload_waiting_region_begins(uint32_t threads, const void* caller);

/// Must be called when the region has ended.
void preload_waiting_region_ends(uint32_t begun);

/// Whether CPU is short now.
bool preload_waiting_is_short(void);

#endif
