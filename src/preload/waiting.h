// SPDX-License-Identifier: Apache-2.0
// How OpenMP's idle threads wait: they spin while each has a CPU of its own, and sleep while CPU is short.
#ifndef SUKIMA_PRELOAD_WAITING_H
#define SUKIMA_PRELOAD_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/// A region begins. The first region starts the wait monitor: a thread that, 20 to 100 times a second while
/// there are regions, samples how long the thread that began the latest region waits for a CPU, and changes
/// the way of waiting when CPU becomes short or enough.
/// \param threads that regions have now; 0: unknown
/// \param caller  an address inside the caller, to find its runtime
/// \return for preload_waiting_region_ends
uint32_t preload_waiting_region_begins(uint32_t threads, const void* caller);

/// The region has ended.
void preload_waiting_region_ends(uint32_t begun);

/// Whether CPU is short now.
bool preload_waiting_is_short(void);

#endif
