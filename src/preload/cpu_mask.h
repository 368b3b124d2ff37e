// SPDX-License-Identifier: Apache-2.0
// Counts and narrows affinity masks, as bytes of any length.
#ifndef SUKIMA_PRELOAD_CPU_MASK_H
#define SUKIMA_PRELOAD_CPU_MASK_H

#include <stddef.h>
#include <stdint.h>

/// The number of CPUs in a mask of `size` bytes.
uint32_t preload_count_cpus(const unsigned char* mask, size_t size);

/// Keeps `keep` of the mask's CPUs: consecutive ones in their order, beginning with number `first` (counted
/// from 0, and wrapping around). A mask with at most `keep` CPUs stays unchanged. The same mask always gives
/// the same result, and narrowing a result again does not change it.
void preload_narrow(unsigned char* mask, size_t size, uint32_t keep, uint32_t first);

#endif
