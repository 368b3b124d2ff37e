// SPDX-License-Identifier: Apache-2.0
// The Sukima runtime in a program with OpenMP; see side_by_side.h.
#include "side_by_side.h"

#include <stdatomic.h>
#include <stddef.h>

#include <capacity/shared/side_by_side.h>

#define EXPORTED __attribute__((visibility("default")))

/// The first runtime that called. The runtime of a plug-in that calls later is ignored, which only makes it
/// slower.
static _Atomic(const cap_side_by_side*) partner;

EXPORTED cap_side_by_side_meet sukima_preload_meet;
void sukima_preload_meet(const cap_side_by_side* runtime) {
  const cap_side_by_side* none = NULL;
  atomic_compare_exchange_strong(&partner, &none, runtime);
}

uint64_t preload_beside_region_begins(uint32_t threads) {
  const cap_side_by_side* const runtime = atomic_load_explicit(&partner, memory_order_acquire);
  return runtime == NULL ? 0 : runtime->region_begins(threads);
}

void preload_beside_region_ends(uint64_t begun) {
  if (begun == 0) return;
  atomic_load_explicit(&partner, memory_order_acquire)->region_ends(begun);
}

bool preload_beside_is_there(void) { return atomic_load_explicit(&partner, memory_order_relaxed) != NULL; }

bool preload_beside_was_used(void) {
  const cap_side_by_side* const runtime = atomic_load_explicit(&partner, memory_order_acquire);
  return runtime != NULL && runtime->was_used();
}
