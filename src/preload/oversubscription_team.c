// SPDX-License-Identifier: Apache-2.0
// Runs the team of sleeping threads; see oversubscription_team.h.
#define _GNU_SOURCE
#include "oversubscription_team.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "at_fork.h"
#include "decision.h"
#include "next_function.h"
#include "own_thread.h"

typedef void region_body(void* data);
typedef void gomp_parallel(region_body*, void*, unsigned, unsigned);

enum { no_team, wanted, leaving };
/// `wanted` while the team should sleep; its threads wait until the value changes. The thread that runs the
/// team sets it to `no_team` at the end.
static _Atomic uint32_t state = no_team;
static gomp_parallel* parallel;
static bool handles_fork;

static void sleep_until_not_wanted(void* unused) {
  (void)unused;
  while (atomic_load_explicit(&state, memory_order_acquire) == wanted)
    syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, (uint32_t)wanted, NULL, NULL, 0);
}

/// Runs in the thread that leads the team. It sets `no_team` before the runtime has ended the team's threads.
/// That is harmless, because none of them reads `state` any more. If the team is wanted again by then, it
/// leads another one.
static void* lead_team(void* unused) {
  // Together with the program's own threads, of which there is at least one, there are more threads than
  // CPUs.
  uint32_t expected;
  do {
    parallel(sleep_until_not_wanted, unused, preload_current_settings()->cpus + 1, 0);
    expected = leaving;
  } while (!atomic_compare_exchange_strong(&state, &expected, no_team));
  return NULL;
}

/// The child of fork() has no team.
static void after_fork_in_child(void) { atomic_store(&state, no_team); }

void oversubscription_team_begin(const void* caller) {
  uint32_t found = leaving;
  if (atomic_compare_exchange_strong(&state, &found, wanted) || found == wanted) return;
  parallel = (gomp_parallel*)preload_find_function("GOMP_parallel", caller);
  if (parallel == NULL) return;
  if (!handles_fork) {
    handles_fork = preload_at_fork(after_fork_in_child);
  }
  atomic_store_explicit(&state, wanted, memory_order_release);
  if (!preload_start_thread(lead_team)) atomic_store(&state, no_team);
}

void oversubscription_team_end(void) {
  uint32_t expected = wanted;
  if (!atomic_compare_exchange_strong(&state, &expected, leaving)) return;
  syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
