// SPDX-License-Identifier: Apache-2.0
#include "regions_now.h"

#include <capacity/shared/assert.h>
#include <stdatomic.h>

#include "wait_judgement.h"

/// The number of running regions. The monitor ends while it is 0. A thread that begins a region counts it,
/// and then checks whether there is a monitor; see waiting.c.
static _Atomic uint32_t running;
/// A number that differs in each process made by fork(). Only the only thread of the child writes it.
static _Atomic uint32_t process;
/// When the last region ended (0 before that), and the average gap. Threads that begin or end a region while
/// no other region runs write them. If two threads do so at the same time, one gap is lost. So all accesses
/// are relaxed.
static _Atomic uint64_t last_end, mean_gap;

/// Records the gap before the first of the regions that run now.
static void note_gap(uint64_t now) {
  const uint64_t end = atomic_load_explicit(&last_end, memory_order_relaxed);
  if (end == 0 || now == 0) return;
  const uint64_t mean = atomic_load_explicit(&mean_gap, memory_order_relaxed);
  atomic_store_explicit(&mean_gap, wait_judgement_mean_gap(mean, now > end ? now - end : 0),
                        memory_order_relaxed);
}

uint32_t regions_now_begin(uint64_t now) {
  if (atomic_fetch_add(&running, 1) == 0) note_gap(now);
  return atomic_load_explicit(&process, memory_order_relaxed);
}

void regions_now_end(uint32_t begun, uint64_t now) {
  if (begun != atomic_load_explicit(&process, memory_order_relaxed)) return;
  atomic_store_explicit(&last_end, now, memory_order_relaxed);
  const uint32_t before = atomic_fetch_sub(&running, 1);
  (void)before;  // for the assertion
  CAP_ASSERT(before != 0, "a region that ends has begun in this process");
}

bool regions_now_any(void) { return atomic_load(&running) != 0; }

uint64_t regions_now_mean_gap(void) { return atomic_load_explicit(&mean_gap, memory_order_relaxed); }

void regions_now_forget(void) {
  atomic_fetch_add_explicit(&process, 1, memory_order_relaxed);
  atomic_store(&running, 0);
  atomic_store_explicit(&last_end, 0, memory_order_relaxed);
  atomic_store_explicit(&mean_gap, 0, memory_order_relaxed);
}
