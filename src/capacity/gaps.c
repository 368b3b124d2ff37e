// SPDX-License-Identifier: Apache-2.0
// Time that somebody outside of this kernel took, seen as gaps in a clock that is read in a tight loop.
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <sukima/capacity.h>

#include "counters.h"
#include "file.h"

// Shorter gaps are interrupts of this kernel: the timer's alone add up to 0.7 % at 10 us.
static const double least_gap_seconds = 50e-6;

static uint64_t monotonic(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// The processor's counter: in guests whose clock_gettime leaves the guest, reading it costs nothing.
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

static bool read_waited(uint64_t* waited_ns) {
  char memory[256];
  sukima_text content;
  sukima_schedstat stat;
  if (sukima_file_read("/proc/thread-self/schedstat", memory, sizeof memory, &content) !=
          sukima_file_read_ok ||
      !sukima_parse_schedstat(content, &stat)) {
    return false;
  }
  *waited_ns = stat.wait_ns;
  return true;
}

// How many cycles a second has, measured for a hundredth of one.
static double cycles_per_second(void) {
  uint64_t time = monotonic();
  uint64_t first = cycles();
  uint64_t now = time;
  while (now - time < 10000000) now = monotonic();
  return (double)(cycles() - first) / ((double)(now - time) * 1e-9);
}

int sukima_capacity_probe_gaps(double seconds, double* taken) {
  if (!(seconds > 0 && seconds <= 60)) return EINVAL;
  int saved = errno;
  uint64_t waited_before = 0;
  uint64_t waited = 0;
  double rate = cycles_per_second();
  uint64_t least = (uint64_t)(least_gap_seconds * rate);
  uint64_t length = (uint64_t)(seconds * rate);
  bool tells = read_waited(&waited_before);
  uint64_t first = cycles();
  uint64_t last = first;
  uint64_t gaps = 0;
  while (last - first < length) {
    uint64_t now = cycles();
    if (now > last && now - last > least) gaps += now - last;
    if (now > last) last = now;  // another CPU's counter may be behind
  }
  double whole = (double)(last - first) / rate;
  tells = read_waited(&waited) && tells;
  double others = (double)(waited - waited_before) * 1e-9;
  *taken = tells ? fmin(1, fmax(0, ((double)gaps / rate - others) / whole)) : NAN;
  errno = saved;
  return 0;
}
