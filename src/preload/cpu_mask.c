// SPDX-License-Identifier: Apache-2.0
// Handles affinity masks as bytes; see cpu_mask.h. The kernel's masks are arrays of long. On the
// little-endian machines on which Sukima runs, CPU n is bit n % 8 of byte n / 8.
#include "cpu_mask.h"

#include <limits.h>

uint32_t preload_count_cpus(const unsigned char* mask, size_t size) {
  uint32_t count = 0;
  for (size_t i = 0; i < size; ++i)
    for (unsigned rest = mask[i]; rest != 0; rest &= rest - 1) ++count;
  return count;
}

void preload_narrow(unsigned char* mask, size_t size, uint32_t keep, uint32_t first) {
  const uint32_t count = preload_count_cpus(mask, size);
  if (keep == 0 || count <= keep) return;
  first %= count;
  uint32_t position = 0;  // among the CPUs of the mask
  for (size_t bit = 0; bit < size * CHAR_BIT; ++bit) {
    unsigned char* const byte = &mask[bit / CHAR_BIT];
    const unsigned char one = (unsigned char)(1U << (bit % CHAR_BIT));
    if ((*byte & one) == 0) continue;
    const uint32_t distance = (position + count - first) % count;
    if (distance >= keep) *byte = (unsigned char)(*byte & ~one);
    ++position;
  }
}
