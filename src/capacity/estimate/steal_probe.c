// SPDX-License-Identifier: Apache-2.0
// The steal probe: detects CPU time that the hypervisor took as gaps in a clock that is read continuously.
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <sukima/capacity.h>

#include "shared/schedstat.h"
#include "text/file.h"

// Work between two readings, some microseconds. Emulators read the clock under a lock that all virtual CPUs
// share. If probes on several CPUs only read the clock, the hypervisor would mostly take a CPU from the probe
// that holds the lock. The others would spin for as long, and a quarter of the time that they had would count
// as taken.
enum { rounds_between_readings = 4000 };
// Shorter gaps are interrupts of this kernel. At 10 us, the timer's alone would add up to 0.7 %.
static const double least_gap_seconds = 50e-6;

static uint64_t monotonic(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// Reads the processor's counter. That costs nothing even in guests whose clock_gettime causes an exit to the
// hypervisor.
static uint64_t cycles(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t value = 0;
  __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return monotonic();
#endif
}

// The fences have no partner: they prevent the compiler from removing the loop.
static void work_between_readings(void) {
  for (int i = 0; i < rounds_between_readings; i++) atomic_signal_fence(memory_order_seq_cst);
}

// The time that this kernel gave to this thread, and to others while this thread wanted the CPU.
typedef struct waiting {
  int file;
  bool known;
  cap_schedstat stat;
  uint64_t before;  // cycles before and after the reading
  uint64_t after;
} waiting;

static void read_waiting(waiting* state) {
  state->before = cycles();
  state->known = state->file >= 0 && cap_schedstat_read_open(state->file, &state->stat);
  state->after = cycles();
}

// The cycles per second, measured over a hundredth of a second.
static double cycles_per_second(void) {
  uint64_t time = monotonic();
  uint64_t first = cycles();
  uint64_t now = time;
  while (now - time < 10000000) now = monotonic();
  return (double)(cycles() - first) / ((double)(now - time) * 1e-9);
}

int sukima_capacity_probe_steal(double seconds, double* taken) {
  if (!(seconds > 0 && seconds <= 60)) return EINVAL;
  int saved = errno;
  double rate = cycles_per_second();
  uint64_t least = (uint64_t)(least_gap_seconds * rate);
  uint64_t length = (uint64_t)(seconds * rate);
  waiting begin = {.file = cap_file_open("/proc/thread-self/schedstat")};
  // The kernel counts a wait when it ends. If a wait falls into a reading, it is unknown whether the reading
  // includes it, so discard such a reading.
  for (int tries = 0; tries < 1000; tries++) {
    read_waiting(&begin);
    if (begin.after - begin.before < least) break;
  }
  waiting end = begin;
  uint64_t first = begin.after;
  uint64_t last = first;
  uint64_t gaps = 0;
  for (bool ended = false; !ended;) {
    work_between_readings();
    uint64_t now = cycles();
    if (now - first >= length && now > last) {
      read_waiting(&end);
      now = end.after;
      ended = end.after - end.before < least || now - first >= 2 * length;
    }
    if (now > last && now - last > least) gaps += now - last;
    if (now > last) last = now;  // the counter of another CPU may lag
  }
  if (begin.file >= 0) cap_file_close(begin.file);
  double whole = (double)(last - first) / rate;
  // The result is relative to the time in which this thread had the CPU according to this kernel, because no
  // gap was measured while others had it. If the kernel loses ticks, its clock stops and jumps, but `ran` and
  // `waited` use the same clock.
  double ran = (double)(end.stat.run_ns - begin.stat.run_ns);
  double waited = (double)(end.stat.wait_ns - begin.stat.wait_ns);
  bool known = begin.known && end.known && ran > 0;
  double had = whole * ran / (ran + waited);
  double running = whole - (double)gaps / rate;
  *taken = known ? fmin(1, fmax(0, 1 - running / had)) : NAN;
  errno = saved;
  return 0;
}
