// SPDX-License-Identifier: Apache-2.0
// Follows the fitting number of threads while the program runs; see decision.h.
#define _GNU_SOURCE
#include "decision.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <sukima/capacity.h>

#include "at_fork.h"
#include "shared/mpi_ranks.h"

/// Two periods of the usual quota.
static const uint64_t look_interval_ns = 200 * 1000000ULL;
/// The number of consecutive readings that must agree before the number changes: a short-lived limit is not a
/// reason for a change, and each change costs the program something.
enum { agreeing_looks = 3 };

static struct preload_settings settings = {.minimum = 1};
static sukima_capacity* reader;
/// The number from the limits alone at the start. The decision at the start also considered the neighbours,
/// so it stays valid until a limit changes.
static uint32_t limits_at_start;
/// The processes on this machine that divide the CPUs, according to `sukima run` or MPI's variables.
static uint32_t ranks = 1;
static _Atomic uint32_t current;
/// Written by the thread that holds `looking`; valid without other data (relaxed).
static _Atomic uint32_t useful;
static _Atomic uint64_t next_look;
/// The thread that holds this reads the limits. No thread waits for it.
static atomic_flag looking = ATOMIC_FLAG_INIT;
/// The results of earlier readings; they belong to the thread that holds `looking`.
static uint32_t candidate;
static int agreed;

/// In a child of fork() no thread holds `looking`, even if a thread of the parent did.
static void after_fork_in_child(void) { atomic_flag_clear(&looking); }

static uint32_t at_least_minimum(uint32_t threads) {
  return threads > settings.minimum ? threads : settings.minimum;
}

/// A rank's share of a number of threads. If `sukima run` started `mpirun`, it knew of only one process.
static uint32_t share_of(uint32_t threads) {
  const uint32_t known = settings.ranks > 1 ? settings.ranks : 1;
  return ranks <= known ? threads : at_least_minimum(threads * known / ranks);
}

/// The number of threads for this process, one of `ranks` processes that share these CPUs.
static uint32_t of_cpus(double cpus) {
  const sukima_capacity_policy policy = {(sukima_capacity_rounding)settings.rounding, settings.minimum,
                                         settings.reserve_thousandths / 1000.0};
  uint32_t threads = sukima_capacity_threads(cpus, &policy);
  if (settings.maximum != 0 && threads > settings.maximum) threads = settings.maximum;
  return ranks <= 1 ? threads : at_least_minimum(threads / ranks);
}

/// The largest number that may be of use. Under a quota, more threads than CPUs gain nothing; without one,
/// threads that block often may gain.
static uint32_t most_useful(const sukima_capacity_facts* facts) {
  static const double nothing = 0.01;
  if (facts->usable > facts->cap - nothing) return 2 * facts->cap;
  return (uint32_t)ceil(facts->usable - nothing);
}

static void begin(void) {
  if (!preload_read_settings(getenv(PRELOAD_VARIABLE), &settings)) return;
  ranks = preload_count_ranks();
  if (ranks < settings.ranks) ranks = settings.ranks;
  if (!settings.fixed) settings.threads = share_of(settings.threads);
  atomic_store(&current, settings.threads);
  if (settings.fixed) return;
  // The reader uses the override in the user's environment, as `sukima run` did. If the program pins its
  // threads later, that does not reduce its CPUs.
  const sukima_capacity_options options = {.affinity = SUKIMA_CAPACITY_AT_OPEN};
  reader = sukima_capacity_open(&options);
  if (reader == NULL) return;
  sukima_capacity_facts facts;
  sukima_capacity_latest(reader, &facts);
  // A quota may have fallen since `sukima run` decided, or a child may be in a group with a quota. The
  // affinity mask does not count, because a parent that pins its children divides its own number among them.
  const uint32_t fit = of_cpus(facts.quota);
  if (facts.binding != SUKIMA_CAPACITY_OVERRIDE && fit < settings.threads) {
    settings.threads = fit;
    atomic_store(&current, fit);
  }
  limits_at_start = of_cpus(facts.usable);
  atomic_store_explicit(&useful, most_useful(&facts), memory_order_relaxed);
  atomic_store(&next_look, preload_now() + look_interval_ns);
}

/// The calling thread, as a number that no other thread has, in a child of fork() either.
static uint64_t this_thread(void) { return (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid); }

/// Whether the settings have been read. Constructors of other libraries call this before ours would run, so
/// the first call reads the settings. AddressSanitizer calls before there is an environment; such a call does
/// not count as the first. Other threads wait until the settings have been read, which takes about a
/// millisecond and no lock: threads of a program that ask at the same time must get the same number. Nested
/// calls return false, and so do calls in a child of fork() whose parent was reading the settings.
static bool has_begun(void) {
  enum { not_yet, done };
  static _Atomic uint64_t reading = not_yet;  // otherwise the thread that reads the settings
  static const struct timespec pause = {0, 50000};
  uint64_t seen = atomic_load_explicit(&reading, memory_order_acquire);
  if (seen == done) return true;
  if (environ == NULL) return false;
  const uint64_t self = this_thread();
  if (seen != not_yet || !atomic_compare_exchange_strong(&reading, &seen, self)) {
    while (seen != done) {
      if (seen == self || seen >> 32 != self >> 32) return false;
      const int error = errno;
      syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
      errno = error;
      seen = atomic_load_explicit(&reading, memory_order_acquire);
    }
    return true;
  }
  begin();
  atomic_store_explicit(&reading, done, memory_order_release);
  if (reader != NULL) preload_at_fork(after_fork_in_child);
  return true;
}

const struct preload_settings* preload_current_settings(void) {
  static const struct preload_settings nothing = {.minimum = 1};
  return has_begun() ? &settings : &nothing;
}

uint64_t preload_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/// The number for these limits. While the limits are those of the start, it is the number of the start.
static uint32_t fitting(const sukima_capacity_facts* facts) {
  const uint32_t now = of_cpus(facts->usable);
  if (now == limits_at_start) return settings.threads;
  if (now > limits_at_start) return now;
  return now < settings.threads ? now : settings.threads;
}

static void look(void) {
  sukima_capacity_facts facts;
  sukima_capacity_refresh(reader, &facts);
  atomic_store_explicit(&useful, most_useful(&facts), memory_order_relaxed);
  const uint32_t found = fitting(&facts);
  const uint32_t before = atomic_load(&current);
  if (found == before) {
    agreed = 0;
    return;
  }
  agreed = found == candidate ? agreed + 1 : 1;
  candidate = found;
  if (agreed < agreeing_looks) return;
  agreed = 0;
  atomic_store(&current, found);
  preload_note("%u -> %u threads fit: %.3g CPUs are usable (limit: %s)", before, found, facts.usable,
               sukima_capacity_kind_name(facts.binding));
}

uint32_t preload_most_useful(void) { return atomic_load_explicit(&useful, memory_order_relaxed); }

uint32_t preload_threads(void) {
  if (!has_begun()) return 0;
  if (reader == NULL) return atomic_load_explicit(&current, memory_order_relaxed);
  const uint64_t now = preload_now();
  if (now >= atomic_load_explicit(&next_look, memory_order_relaxed) &&
      !atomic_flag_test_and_set_explicit(&looking, memory_order_acquire)) {
    const int error = errno;
    look();
    atomic_store_explicit(&next_look, now + look_interval_ns, memory_order_relaxed);
    atomic_flag_clear_explicit(&looking, memory_order_release);
    errno = error;
  }
  return atomic_load_explicit(&current, memory_order_relaxed);
}

/// Whether a path still refers to the log, which is a file of the process `sukima run`. When that process has
/// ended, its number may belong to another process, and the path may refer to a file of that process.
static bool is_log(const char* path) {
  static const char expected[] = "/memfd:" PRELOAD_LOG_NAME;
  char target[sizeof expected];
  const ssize_t length = readlink(path, target, sizeof target);
  return length >= (ssize_t)sizeof expected - 1 && memcmp(target, expected, sizeof expected - 1) == 0;
}

/// Appends the line to the file. If the file would exceed the size limit of the program's files (ulimit -f),
/// the kernel would end the program by SIGXFSZ. So this function blocks the signal and consumes it.
static void append(long file, const char* line, size_t length) {
  const struct timespec at_once = {0, 0};
  sigset_t held, pending, before;
  sigemptyset(&held);
  sigaddset(&held, SIGXFSZ);
  if (pthread_sigmask(SIG_BLOCK, &held, &before) != 0) return;
  sigpending(&pending);
  // Use one write, so that lines of several processes do not mix. A missing line in a report is better than a
  // program that ends because of it.
  const long written = syscall(SYS_write, file, line, length);
  if (written < 0 && errno == EFBIG && sigismember(&pending, SIGXFSZ) == 0)
    syscall(SYS_rt_sigtimedwait, &held, NULL, &at_once, _NSIG / 8);  // sigtimedwait() is a cancellation point
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void preload_note(const char* format, ...) {
  if (settings.log == NULL) return;
  const int error = errno;
  char line[400];
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int head = snprintf(line, sizeof line, "%lld.%09ld %d %s: ", (long long)now.tv_sec, now.tv_nsec,
                            (int)getpid(), program_invocation_short_name);
  if (head < 0 || (size_t)head >= sizeof line - 1) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + head, sizeof line - (size_t)head - 1, format, arguments);
  va_end(arguments);
  size_t length = 0;
  while (line[length] != '\0') ++length;
  line[length++] = '\n';
  // Leave no file open, because programs may count their open files.
  const long file = is_log(settings.log)
                        ? syscall(SYS_openat, AT_FDCWD, settings.log, O_WRONLY | O_APPEND | O_CLOEXEC, 0)
                        : -1;
  if (file >= 0) {
    append(file, line, length);
    syscall(SYS_close, file);
  }
  errno = error;
}
