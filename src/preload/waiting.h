// SPDX-License-Identifier: Apache-2.0
// How OpenMP's idle threads wait: they spin while each has a CPU of its own, and sleep where CPU is short.
#ifndef SUKIMA_PRELOAD_WAITING_H
#define SUKIMA_PRELOAD_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/// A region begins. The first one starts a thread that looks, some tens of times a second while there are
/// regions, whether the thread that began the latest one has to wait for CPUs, and changes the way of waiting
/// if that has changed.
/// \param threads that regions have just now; 0: unknown
/// \param caller  an address inside of the caller, to find its runtime
void preload_waiting_region_begins(uint32_t threads, const void* caller);

/// It has ended.
void preload_waiting_region_ends(void);

/// Whether CPU is short just now.
bool preload_waiting_is_short(void);

#endif
