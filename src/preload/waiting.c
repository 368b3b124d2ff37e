// SPDX-License-Identifier: Apache-2.0
// The wait monitor: adapts how OpenMP's idle threads wait while the program runs; see waiting.h.
//
// CPU is short if the thread that starts the regions waits for a CPU while it could run. The kernel counts
// that for each thread, including pauses by a quota. A thread of this library samples these counters. It must
// do so during regions, too: if threads spin for each other without CPUs, a region may take a hundred times
// as long as it should, and the program calls no function of this library until the region ends.
//
// Clang's runtime has a function that sets how long the calling thread spins. gcc's runtime has none, but
// spins only briefly while it has more threads than there are CPUs. An oversubscription team causes that.
#define _GNU_SOURCE
#include "waiting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "at_fork.h"
#include "decision.h"
#include "next_function.h"
#include "oversubscription_team.h"
#include "own_thread.h"
#include "regions_now.h"
#include "side_by_side.h"
#include "wait_judgement.h"

#include <capacity/shared/schedstat.h>

static const uint64_t ms = 1000000;
static const uint64_t frequent_for = 300 * ms;  // at the start, because a run may last only a second
enum { samples_without_regions = 20 };  // after these the monitor ends
enum { samples_beside_sukima = 20 };  // samples for which the runtime's last use counts

typedef void kmp_set_blocktime(int);
typedef int kmp_get_blocktime(void);

/// Facts about the latest region. Each is valid without the others, so all accesses are relaxed.
static _Atomic pid_t master;
static _Atomic uint32_t team;
static _Atomic(const void*) latest_caller;

/// Written by the monitor, and read by threads that begin regions. It publishes no other data (relaxed).
static atomic_bool is_short;

/// Whether there is a monitor. It ends while the program runs no regions, and the next region starts another
/// one: a thread that only slept would keep a process whose main thread has called pthread_exit() alive
/// forever. The monitor clears this and then reads again whether a region runs. A thread that begins a region
/// counts it and then reads this. All these accesses are sequentially consistent, so at least one of the two
/// sees the other's write.
static atomic_bool is_monitored;

bool preload_waiting_is_short(void) { return atomic_load_explicit(&is_short, memory_order_relaxed); }

static bool is_untouched(void) { return preload_current_settings()->waiting == preload_waiting_untouched; }

/// Makes idle threads of gcc's runtime sleep while CPU is short.
static void apply_to_gcc(bool now_short) {
  const void* const caller = atomic_load_explicit(&latest_caller, memory_order_relaxed);
  if (!now_short) {
    oversubscription_team_end();
  } else if (preload_find_function("kmp_set_blocktime", caller) == NULL) {
    // Clang's runtime also has gcc's entry points, but is controlled by kmp_set_blocktime().
    oversubscription_team_begin(caller);
  }
}

static void change(bool now_short, const char* why) {
  atomic_store_explicit(&is_short, now_short, memory_order_relaxed);
  if (is_untouched()) return;
  apply_to_gcc(now_short);
  preload_note("idle threads of OpenMP %s: %s", now_short ? "sleep" : "may spin", why);
}

/// The observations of the monitor. They are kept from one monitor to the next.
struct observation {
  uint64_t begin;  ///< when the first monitor began; 0: it has not
  int samples_beside;  ///< the number of samples for which a Sukima runtime still counts as used
  bool gaps_are_long;  ///< whether the gaps between regions are long
  struct wait_judgement judgement;
};

/// Whether a Sukima runtime was used lately, and the gaps between regions are long. Then threads that spin
/// after a region would take the CPUs that its workers need.
static bool is_beside_sukima(struct observation* seen) {
  seen->gaps_are_long = wait_judgement_gaps_are_long(regions_now_mean_gap(), seen->gaps_are_long);
  if (preload_beside_was_used())
    seen->samples_beside = samples_beside_sukima;
  else if (seen->samples_beside > 0)
    --seen->samples_beside;
  return seen->samples_beside > 0 && seen->gaps_are_long;
}

/// Whether the thread that begins the regions has to wait for a CPU.
static bool waits_for_cpus(struct observation* seen) {
  const pid_t thread = atomic_load_explicit(&master, memory_order_relaxed);
  // Threads beyond the number of CPUs wait for each other, and a single thread waits for no other: neither is
  // informative.
  const uint32_t threads = atomic_load_explicit(&team, memory_order_relaxed);
  const bool informative = threads != 1 && threads <= preload_current_settings()->cpus;
  cap_schedstat now;
  if (!cap_schedstat_read(thread, &now)) return seen->judgement.is_short;
  return wait_judgement_follow(&seen->judgement, thread, informative, &now, preload_now());
}

static void sample(struct observation* seen) {
  const bool found_short = waits_for_cpus(seen);
  const bool beside_sukima = is_beside_sukima(seen);
  const bool should_sleep = found_short || beside_sukima;
  if (should_sleep == preload_waiting_is_short()) return;
  if (should_sleep) {
    change(true, found_short ? "they had to wait for CPUs" : "Sukima's workers need the CPUs, too");
  } else if (preload_current_settings()->waiting != preload_waiting_asleep) {
    change(false, "each of them has a CPU of its own");
  }
}

/// Only the monitor accesses this, and `is_monitored` orders the monitors.
static struct observation seen_by_monitor;

/// Samples until the program has run no region for a while. The team of gcc's runtime ends, too, because its
/// threads would also keep the process alive. By then the program's idle threads sleep without it.
static void sample_while_regions_run(struct observation* seen) {
  if (!is_untouched()) apply_to_gcc(preload_waiting_is_short());
  for (int without_regions = 0; without_regions < samples_without_regions;) {
    const long pause = (long)((preload_now() - seen->begin < frequent_for ? 10 : 50) * ms);
    const struct timespec timeout = {0, pause};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &timeout, NULL);
    sample(seen);
    without_regions = regions_now_any() ? 0 : without_regions + 1;
  }
  oversubscription_team_end();
}

static void* run_wait_monitor(void* unused) {
  pthread_setname_np(pthread_self(), "sukima-waiting");
  struct observation* const seen = &seen_by_monitor;
  if (seen->begin == 0) {
    *seen = (struct observation){.begin = preload_now()};
    wait_judgement_start(&seen->judgement, preload_waiting_is_short(), seen->begin);
  } else {
    seen->judgement.thread = 0;  // what happened without a monitor does not count
  }
  do {
    sample_while_regions_run(seen);
    atomic_store(&is_monitored, false);
  } while (regions_now_any() && !atomic_exchange(&is_monitored, true));
  return unused;
}

/// The calling thread's number; 0: not yet known.
static _Thread_local pid_t self;
/// Whether this thread has set clang's runtime to short waits.
static _Thread_local bool set_short;

/// Whether a monitor has been started. The thread that sets `is_monitored` accesses it.
static bool was_started;

/// The child of fork() has no monitor. Its runtime begins again, with the default waits.
static void after_fork_in_child(void) {
  self = 0;
  set_short = false;
  atomic_store_explicit(&is_short, false, memory_order_relaxed);
  regions_now_forget();
  seen_by_monitor.begin = 0;
  was_started = false;
  atomic_store(&is_monitored, false);
}

static void start_wait_monitor(void) {
  static bool handles_fork;
  if (atomic_exchange(&is_monitored, true)) return;
  if (!handles_fork) handles_fork = preload_at_fork(after_fork_in_child);
  const enum preload_waiting waiting = preload_current_settings()->waiting;
  if (!was_started && (waiting == preload_waiting_short || waiting == preload_waiting_asleep))
    change(true, "CPU was short at the start");
  was_started = true;
  preload_start_thread(run_wait_monitor);
}

/// Sets the spin time in clang's runtime, which stores it for each thread that begins regions.
static void set_llvm_blocktime(const void* caller) {
  enum { unknown = -2, not_there = -1 };
  static _Thread_local int usual = unknown;
  if (usual == not_there || is_untouched()) return;
  const bool now_short = preload_waiting_is_short();
  if (now_short == set_short) return;
  kmp_set_blocktime* const set = (kmp_set_blocktime*)preload_find_function("kmp_set_blocktime", caller);
  kmp_get_blocktime* const get = (kmp_get_blocktime*)preload_find_function("kmp_get_blocktime", caller);
  if (set == NULL || get == NULL) {
    usual = not_there;
    return;
  }
  if (usual == unknown) usual = get();
  set(now_short ? 0 : usual);
  set_short = now_short;
}

/// The time for measuring gaps between regions, which matter only beside a Sukima runtime; 0 without one.
static uint64_t now_beside_sukima(void) { return preload_beside_is_there() ? preload_now() : 0; }

uint32_t preload_waiting_region_begins(uint32_t threads, const void* caller) {
  if (self == 0) self = (pid_t)syscall(SYS_gettid);
  atomic_store_explicit(&master, self, memory_order_relaxed);
  atomic_store_explicit(&team, threads, memory_order_relaxed);
  atomic_store_explicit(&latest_caller, caller, memory_order_relaxed);
  const uint32_t begun = regions_now_begin(now_beside_sukima());
  if (!atomic_load(&is_monitored)) start_wait_monitor();
  set_llvm_blocktime(caller);
  return begun;
}

void preload_waiting_region_ends(uint32_t begun) { regions_now_end(begun, now_beside_sukima()); }
