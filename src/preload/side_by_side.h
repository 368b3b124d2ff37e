// SPDX-License-Identifier: Apache-2.0
// The Sukima runtime in a program that also uses OpenMP. Each of the two leaves CPUs to the other.
#ifndef SUKIMA_PRELOAD_SIDE_BY_SIDE_H
#define SUKIMA_PRELOAD_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stdint.h>

/// Informs the runtime that a region of `threads` threads begins, so that its workers leave them their CPUs.
/// \return the argument for preload_beside_region_ends; 0 without a runtime
uint64_t preload_beside_region_begins(uint32_t threads);

/// Informs the runtime that the region has ended.
void preload_beside_region_ends(uint64_t begun);

/// Whether the process has a Sukima runtime.
bool preload_beside_is_there(void);

/// Whether the runtime was used since the last call. Then its workers need the CPUs on which idle threads
/// would spin. Only one thread may call it.
bool preload_beside_was_used(void);

#endif
