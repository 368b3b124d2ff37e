// SPDX-License-Identifier: Apache-2.0
// The Sukima runtime in a program that also uses OpenMP: each of the two leaves the other one its CPUs.
#ifndef SUKIMA_PRELOAD_SIDE_BY_SIDE_H
#define SUKIMA_PRELOAD_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stdint.h>

/// A region of so many threads begins: the runtime's workers leave them their CPUs.
/// \return for preload_beside_region_ends; 0 without a runtime
uint64_t preload_beside_region_begins(uint32_t threads);

/// The region has ended.
void preload_beside_region_ends(uint64_t begun);

/// Whether there is a runtime.
bool preload_beside_is_there(void);

/// Whether the runtime was used since the last call: its workers need the CPUs on which idle threads would
/// spin. For one thread.
bool preload_beside_was_used(void);

#endif
