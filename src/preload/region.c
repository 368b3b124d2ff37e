// SPDX-License-Identifier: Apache-2.0
// Determines the number of threads of each parallel region; see region.h.
#define _GNU_SOURCE
#include "region.h"

#include <capacity/shared/assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "at_fork.h"
#include "decision.h"
#include "next_function.h"
#include "side_by_side.h"
#include "tuner.h"
#include "waiting.h"

typedef int in_parallel(void);
typedef int get_max_threads(void);

/// Whether the program has set a number. Then this library no longer changes numbers.
static atomic_bool program_set;
/// The runtime's own number of threads for regions, for the wait monitor; 0: not yet known. Relaxed, because
/// no other data depends on it.
static _Atomic uint32_t own_threads;
/// The number that the program has received; 0: it has not asked. Regions get exactly this number.
static _Atomic uint32_t promised_threads;

/// Held by the thread whose region the tuner measures. No thread waits for it.
static atomic_flag tuning = ATOMIC_FLAG_INIT;
/// Whether this thread holds `tuning`.
static _Thread_local bool tunes;
static struct tuner tuner;
static uint32_t tuned_for;  // the fitting number with which the tuner was started; 0: not started
/// The tuner's number for regions of all threads, and its number outside experiments; 0: not started.
static _Atomic uint32_t tuned, settled;

/// In the child of fork(), only the calling thread continues. If another thread held `tuning`, it would never
/// be released. That thread may also have been writing to the tuner, so the tuner then begins again.
static void after_fork_in_child(void) {
  if (tunes) return;
  if (atomic_flag_test_and_set_explicit(&tuning, memory_order_relaxed)) tuned_for = 0;
  atomic_flag_clear_explicit(&tuning, memory_order_relaxed);
}

static bool inside_a_region(const void* caller) {
  return ((in_parallel*)preload_next_function("omp_in_parallel", caller))() != 0;
}

/// The runtime's number for regions whose number this library does not choose. It is queried once, because
/// with dyn-var a query takes as long as a short region.
static uint32_t runtime_threads(const void* caller) {
  uint32_t known = atomic_load_explicit(&own_threads, memory_order_relaxed);
  if (known != 0) return known;
  get_max_threads* const ask = (get_max_threads*)preload_find_function("omp_get_max_threads", caller);
  known = ask != NULL ? (uint32_t)ask() : 0;
  atomic_store_explicit(&own_threads, known, memory_order_relaxed);
  return known;
}

/// Whether this library chooses numbers of threads in this process at all. It does so only if the user allows
/// it: while dyn-var is false, which is the default, OpenMP guarantees one number to all regions. The library
/// cannot prove that a program does not rely on that, because any code in the body of a region may depend on
/// it, even an addition that counts the threads.
static bool may_choose(void) {
  const struct preload_settings* const settings = preload_current_settings();
  return settings->threads != 0 && !settings->fixed && settings->resize != preload_resize_never &&
         !atomic_load_explicit(&program_set, memory_order_relaxed);
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/// The largest number that the tuner may try.
static uint32_t most_threads(uint32_t fitting) {
  const struct preload_settings* const settings = preload_current_settings();
  const uint32_t cpus = settings->cpus != 0 ? settings->cpus : fitting;
  // More threads than CPUs can be faster only if waiting threads release their CPUs.
  uint32_t most = settings->waiting == preload_waiting_untouched ? cpus : 2 * cpus;
  if (preload_most_useful() != 0) most = smaller(most, preload_most_useful());
  if (settings->maximum != 0) most = smaller(most, settings->maximum);
  return most > fitting ? most : fitting;
}

/// Starts the tuner, or starts it again if the limits have changed.
static void follow(uint32_t fitting, uint64_t now) {
  tuner.limits.most = most_threads(fitting);
  if (fitting == tuned_for) return;
  const struct preload_settings* const settings = preload_current_settings();
  // While the limits are those of the start, the best number for threads that wait actively is known.
  const bool as_at_start = fitting == settings->threads && settings->active != 0;
  struct tuner_limits limits = {.first = fitting,
                                .fitting = as_at_start ? settings->active : fitting,
                                .least = settings->minimum,
                                .most = tuner.limits.most,
                                .cpus = settings->cpus != 0 ? settings->cpus : fitting};
  tuner_start(&tuner, &limits, now);
  tuned_for = fitting;
  atomic_store_explicit(&tuned, limits.first, memory_order_relaxed);
  atomic_store_explicit(&settled, limits.first, memory_order_relaxed);
}

/// Reports to the tuner how this thread used its CPU.
static void follow_switches(uint64_t now) {
  static const uint64_t interval = 20 * 1000000ULL;
  static uint64_t next;
  static long given_up_before;
  static long lost_before;
  static double seconds_before;
  if (now < next) return;
  next = now + interval;
  struct rusage used;
  if (getrusage(RUSAGE_THREAD, &used) != 0) return;
  const double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  // If another thread began this region, or this process is a fork, the counts are not comparable.
  const bool is_of_another =
      used.ru_nvcsw < given_up_before || used.ru_nivcsw < lost_before || seconds < seconds_before;
  if (!is_of_another)
    tuner_switches(&tuner, seconds - seconds_before, (uint64_t)(used.ru_nvcsw - given_up_before),
                   (uint64_t)(used.ru_nivcsw - lost_before));
  given_up_before = used.ru_nvcsw;
  lost_before = used.ru_nivcsw;
  seconds_before = seconds;
}

/// The number for a region for which the program gives none.
static unsigned choose(struct preload_region* region, uintptr_t body, uint64_t now) {
  const uint32_t promised = atomic_load_explicit(&promised_threads, memory_order_relaxed);
  if (promised != 0) return promised;
  const uint32_t fitting = preload_threads();
  if (atomic_flag_test_and_set_explicit(&tuning, memory_order_acquire)) {
    // Another thread of the program is in a region of its own, and does the tuning.
    const uint32_t other = atomic_load_explicit(&tuned, memory_order_relaxed);
    return other != 0 ? other : fitting;
  }
  CAP_ASSERT(!tunes, "a thread tunes one region at a time");
  tunes = true;
  static bool handles_fork;
  if (!handles_fork) handles_fork = preload_at_fork(after_fork_in_child);
  follow(fitting, now);
  const bool is_short = preload_waiting_is_short();
  follow_switches(now);
  if (is_short != tuner.is_short) tuner_supply_changed(&tuner, is_short, now);
  const uint32_t threads = tuner_region_begins(&tuner, body, now);
  region->counted = true;
  atomic_store_explicit(&tuned, threads, memory_order_relaxed);
  atomic_store_explicit(&settled, tuner.chosen, memory_order_relaxed);
  if (tuner.changed) {
    tuner.changed = false;
    preload_note("%u -> %u threads: parallel regions run %.3g times as fast", tuner.changed_from,
                 tuner.chosen, tuner.gain);
  }
  return threads;
}

unsigned preload_region_begins(struct preload_region* region, uintptr_t body, unsigned given,
                               const void* caller) {
  *region = (struct preload_region){0};
  if (preload_current_settings()->threads == 0 || inside_a_region(caller)) return given;
  region->outermost = true;
  const bool chosen_here = given == 0 && may_choose();
  const uint32_t usual =
      chosen_here ? atomic_load_explicit(&tuned, memory_order_relaxed) : runtime_threads(caller);
  region->waiting = preload_waiting_region_begins(given != 0 ? given : usual, caller);
  const unsigned number = chosen_here ? choose(region, body, preload_now()) : given;
  region->beside = preload_beside_region_begins(number != 0 ? number : usual);
  return number;
}

void preload_region_ends(struct preload_region* region) {
  if (region->outermost) preload_waiting_region_ends(region->waiting);
  preload_beside_region_ends(region->beside);
  if (!region->counted) return;
  CAP_ASSERT(tunes, "a region that the tuner counts ends in the thread that tunes");
  tuner_region_ends(&tuner, preload_now());
  tunes = false;
  atomic_flag_clear_explicit(&tuning, memory_order_release);
}

void preload_program_sets_threads(int number) {
  if (may_choose())
    preload_note("the program sets its number of threads itself: sukima no longer changes it");
  if (number > 0) atomic_store_explicit(&own_threads, (uint32_t)number, memory_order_relaxed);
  atomic_store_explicit(&program_set, true, memory_order_relaxed);
}

int preload_program_asks_threads(int own, const void* caller) {
  if (own == 0) {
    const uint32_t fitting = preload_threads();
    return fitting != 0 ? (int)fitting : 1;
  }
  if (!may_choose() || inside_a_region(caller)) return own;
  uint32_t number = atomic_load_explicit(&promised_threads, memory_order_relaxed);
  if (number != 0) return (int)number;
  const uint32_t latest = atomic_load_explicit(&settled, memory_order_relaxed);
  number = latest != 0 ? latest : preload_threads();
  if (preload_current_settings()->resize == preload_resize_always) return (int)number;
  uint32_t none = 0;
  if (atomic_compare_exchange_strong(&promised_threads, &none, number))
    preload_note("the program has queried its number of threads: it keeps %u", number);
  return (int)atomic_load(&promised_threads);
}

int preload_program_asks_processors(int own, const void* caller) {
  static _Atomic uint32_t promised;
  const uint32_t fitting = preload_threads();
  if (fitting == 0) return own != 0 ? own : 1;
  if (own == 0 || may_choose()) return (int)fitting;
  uint32_t number = atomic_load_explicit(&promised, memory_order_relaxed);
  if (number != 0) return (int)number;
  // Programs also use the result as the size of arrays. So never return fewer than the threads that a region
  // gets, unless the runtime itself would.
  const uint32_t least = smaller((uint32_t)own, runtime_threads(caller));
  uint32_t none = 0;
  atomic_compare_exchange_strong(&promised, &none, fitting > least ? fitting : least);
  return (int)atomic_load(&promised);
}
