// SPDX-License-Identifier: Apache-2.0
// Affinity masks as bytes of any length: counting and narrowing them.
#ifndef SUKIMA_PRELOAD_CPU_MASK_H
#define SUKIMA_PRELOAD_CPU_MASK_H

#include <stddef.h>
#include <stdint.h>

/// The number of CPUs in a mask of `size` bytes.
uint32_t preload_count_cpus(const unsigned char* mask, size_t size);

/// Leaves `keep` of the mask's CPUs, neighbours in their order, beginning with the one number `first`
/// (counted from 0, and around). A mask with no more than `keep` CPUs stays as it is. The same mask always
/// gives the same answer, and narrowing an answer again does not change it.
void preload_narrow(unsigned char* mask, size_t size, uint32_t keep, uint32_t first);

#endif
