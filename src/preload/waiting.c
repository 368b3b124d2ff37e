// SPDX-License-Identifier: Apache-2.0
// The way of waiting, followed while the program runs; see waiting.h.
//
// CPU is short if the thread that starts the regions waits for a CPU while it could run: the kernel counts
// that for each thread, a quota's pauses included. It is looked at from a thread of this library's own,
// because a region in which threads spin for each other without CPUs may take a hundred times as long as it
// should, and nothing of the program's comes by until it ends.
//
// Clang's runtime has a function for the time that threads spin, for the thread that calls it. gcc's has
// none, but spins for a moment only while its threads are more than the CPUs: an idle team makes them so.
#define _GNU_SOURCE
#include "waiting.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "decision.h"
#include "idle_team.h"
#include "next_function.h"
#include "own_thread.h"

#include <capacity/shared/schedstat.h>
#include <capacity/shared/shortage.h>

static const uint64_t ms = 1000000;
static const uint64_t first_looks_for = 300 * ms;  // in which they come fast: a run may last for a second
/// In long windows a small share of waiting counts: among many threads, a neighbour delays one at a time.
static const cap_shortage_rule rule = {
    .window_count = 3,
    .windows = {{8 * 1000000, 0.4}, {30 * 1000000, 0.2}, {300 * 1000000, 0.08}},
    .enough_up_to = 0.02,
    .calm_windows = 3};
enum { looks_without_regions = 20 };  // then the looking thread sleeps until there is a region

typedef void kmp_set_blocktime(int);
typedef int kmp_get_blocktime(void);

/// Of the region that began last: numbers that are right by themselves, so all of them are relaxed.
static _Atomic pid_t master;
static _Atomic uint32_t team;
static _Atomic(const void*) latest_caller;
static _Atomic int32_t active_regions;

/// Written by the looking thread, read by those that begin regions; it stands for nothing else (relaxed).
static atomic_bool is_short;

/// What the looking thread waits for. It writes `asleep` and looks at `active_regions` once more; who begins
/// a region counts it and then looks at this: sequentially consistent, so one of them sees the other.
enum { not_started, awake, asleep };
static _Atomic uint32_t looker = not_started;

bool preload_waiting_is_short(void) { return atomic_load_explicit(&is_short, memory_order_relaxed); }

static bool is_untouched(void) { return preload_current_settings()->waiting == preload_waiting_untouched; }

static void change(bool now_short, const char* why) {
  atomic_store_explicit(&is_short, now_short, memory_order_relaxed);
  if (is_untouched()) return;
  const void* const caller = atomic_load_explicit(&latest_caller, memory_order_relaxed);
  if (!now_short) {
    idle_team_end();
  } else if (preload_find_function("kmp_set_blocktime", caller) == NULL) {
    // Clang's runtime has gcc's entry points, too, but another way to be told.
    idle_team_begin(caller);
  }
  preload_note("idle threads of OpenMP %s: %s", now_short ? "sleep" : "may spin", why);
}

/// What the looking thread has seen.
struct view {
  pid_t thread;
  cap_schedstat latest;  ///< of that thread
  cap_shortage shortage;
};

static void look(struct view* view) {
  const struct preload_settings* const settings = preload_current_settings();
  const pid_t thread = atomic_load_explicit(&master, memory_order_relaxed);
  // Threads beyond the CPUs wait for each other, and a single thread for nobody: neither says anything.
  const uint32_t threads = atomic_load_explicit(&team, memory_order_relaxed);
  const bool telling = threads != 1 && threads <= settings->cpus;
  cap_schedstat now;
  if (!cap_schedstat_read(thread, &now)) return;
  const cap_schedstat before = view->latest;
  view->latest = now;
  if (thread != view->thread || !telling) {
    view->thread = thread;
    cap_shortage_restart(&view->shortage);
    return;
  }
  cap_shortage_add(&view->shortage, now.run_ns - before.run_ns, now.wait_ns - before.wait_ns);
  const bool found_short = cap_shortage_judge(&view->shortage, &rule);
  if (found_short && !preload_waiting_is_short()) {
    change(true, "they had to wait for CPUs");
  } else if (!found_short && preload_waiting_is_short() && settings->waiting != preload_waiting_asleep) {
    change(false, "each of them has a CPU of its own");
  }
}

static void* look_again_and_again(void* unused) {
  pthread_setname_np(pthread_self(), "sukima-waiting");
  struct view view = {.shortage = {.is_short = preload_waiting_is_short()}};
  const uint64_t begin = preload_now();
  for (int without_regions = 0;;) {
    const long pause = (long)((preload_now() - begin < first_looks_for ? 10 : 50) * ms);
    const struct timespec timeout = {0, pause};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &timeout, NULL);
    look(&view);
    without_regions =
        atomic_load_explicit(&active_regions, memory_order_relaxed) > 0 ? 0 : without_regions + 1;
    if (without_regions < looks_without_regions) continue;
    atomic_store(&looker, asleep);
    while (atomic_load(&looker) == asleep && atomic_load(&active_regions) <= 0)
      syscall(SYS_futex, &looker, FUTEX_WAIT_PRIVATE, (uint32_t)asleep, NULL, NULL, 0);
    atomic_store(&looker, awake);
    without_regions = 0;
  }
  return unused;
}

/// The calling thread's number; 0: not asked yet.
static _Thread_local pid_t self;

/// The child of fork() has no looking thread, and is in no region that its own threads began.
static void after_fork_in_child(void) {
  self = 0;
  atomic_store(&active_regions, 0);
  atomic_store(&looker, not_started);
}

static void start_looking(void) {
  static atomic_bool handles_fork;
  uint32_t expected = not_started;
  if (!atomic_compare_exchange_strong(&looker, &expected, awake)) return;
  if (!atomic_exchange(&handles_fork, true)) pthread_atfork(NULL, NULL, after_fork_in_child);
  const enum preload_waiting waiting = preload_current_settings()->waiting;
  if (waiting == preload_waiting_short || waiting == preload_waiting_asleep)
    change(true, "CPU was short at the start");
  preload_start_thread(look_again_and_again);
}

/// Tells clang's runtime, which keeps the time for each thread that begins regions.
static void tell_llvm(const void* caller) {
  enum { unknown = -2, not_there = -1 };
  static _Thread_local int usual = unknown;
  static _Thread_local bool told_short;
  if (usual == not_there || is_untouched()) return;
  const bool now_short = preload_waiting_is_short();
  if (now_short == told_short) return;
  kmp_set_blocktime* const set = (kmp_set_blocktime*)preload_find_function("kmp_set_blocktime", caller);
  kmp_get_blocktime* const get = (kmp_get_blocktime*)preload_find_function("kmp_get_blocktime", caller);
  if (set == NULL || get == NULL) {
    usual = not_there;
    return;
  }
  if (usual == unknown) usual = get();
  set(now_short ? 0 : usual);
  told_short = now_short;
}

void preload_waiting_region_begins(uint32_t threads, const void* caller) {
  if (self == 0) self = (pid_t)syscall(SYS_gettid);
  atomic_store_explicit(&master, self, memory_order_relaxed);
  atomic_store_explicit(&team, threads, memory_order_relaxed);
  atomic_store_explicit(&latest_caller, caller, memory_order_relaxed);
  atomic_fetch_add(&active_regions, 1);
  const uint32_t state = atomic_load(&looker);
  if (state == not_started) start_looking();
  if (state == asleep) {
    atomic_store(&looker, awake);
    syscall(SYS_futex, &looker, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  }
  tell_llvm(caller);
}

void preload_waiting_region_ends(void) { atomic_fetch_sub(&active_regions, 1); }
