// SPDX-License-Identifier: Apache-2.0
// Replaces sysconf, get_nprocs, sched_getaffinity and pthread_getaffinity_np by functions that return the
// usable number of CPUs. They enforce nothing: threads may still run on all allowed CPUs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "cpu_mask.h"
#include "decision.h"

#define EXPORTED __attribute__((visibility("default")))

/// glibc's internal name of the function that is replaced below. dlsym must not be called here, because an
/// allocator that dlsym may need calls sysconf while it starts. Other C libraries do not have this function:
/// see at_fork.c.
extern long __sysconf(int name) __attribute__((weak));

/// The C library's masks have at most 128 bytes; machines may have more CPUs.
enum { longest_mask = 8192 };

// Each function below keeps the address of the C library's function in `next`. Relaxed: all threads find the
// same address, and no other data depends on it. Partner: the same function in other threads.

/// Calls the C library's function.
__attribute__((no_sanitize("thread"))) static long ask_c_library(int name) {
  if (__sysconf != NULL) return __sysconf(name);
  static long (*_Atomic next)(int);
  long (*real)(int) = atomic_load_explicit(&next, memory_order_relaxed);
  if (real == NULL) {
    *(void**)&real = dlsym(RTLD_NEXT, "sysconf");
    if (real == NULL) return -1;
    atomic_store_explicit(&next, real, memory_order_relaxed);
  }
  return real(name);
}

/// ThreadSanitizer queries stack sizes before its own functions can be called.
EXPORTED __attribute__((no_sanitize("thread"))) long sysconf(int name) {
  // Not _SC_NPROCESSORS_CONF: programs use it as the size of arrays, with numbers of CPUs as indices.
  if (name == _SC_NPROCESSORS_ONLN) {
    const uint32_t threads = preload_threads();
    if (threads != 0) return (long)threads;
  }
  return ask_c_library(name);
}

EXPORTED int get_nprocs(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

/// Queries the kernel. \return the number of bytes that it wrote, or a negative error number
static long ask_kernel(pid_t process, size_t size, unsigned char* mask) {
  const int before = errno;
  const long length = syscall(SYS_sched_getaffinity, process, size < INT32_MAX ? size : INT32_MAX, mask);
  const long result = length >= 0 ? length : -errno;
  errno = before;
  return result;
}

static bool is_own(pid_t process) {
  return process == 0 || process == getpid() || process == (pid_t)syscall(SYS_gettid);
}

static void narrow(unsigned char* mask, size_t size) {
  const uint32_t threads = preload_threads();
  if (threads != 0) preload_narrow(mask, size, threads, preload_current_settings()->first);
}

EXPORTED int sched_getaffinity(pid_t process, size_t size, cpu_set_t* mask) {
  unsigned char* const bytes = (unsigned char*)mask;
  const long length = ask_kernel(process, size, bytes);
  if (length < 0) {
    errno = (int)-length;
    return -1;
  }
  memset(bytes + length, 0, size - (size_t)length);
  if (is_own(process)) narrow(bytes, size);
  return 0;
}

/// Whether the caller is gcc's OpenMP runtime. It counts the CPUs once, to detect that it has more threads
/// than CPUs, which then should not spin. For that it needs the real number. openmp.c determines what it
/// returns to programs.
static bool is_libgomp(const void* caller) {
  Dl_info library;
  return dladdr(caller, &library) != 0 && library.dli_fname != NULL &&
         strstr(library.dli_fname, "libgomp") != NULL;
}

/// Calls the C library's function for any thread. \return 0, or an error number
static int ask_library(pthread_t thread, size_t size, cpu_set_t* mask) {
  static int (*_Atomic next)(pthread_t, size_t, cpu_set_t*);
  int (*real)(pthread_t, size_t, cpu_set_t*) = atomic_load_explicit(&next, memory_order_relaxed);
  if (real == NULL) {
    *(void**)&real = dlsym(RTLD_NEXT, "pthread_getaffinity_np");
    if (real == NULL) return ENOSYS;
    atomic_store_explicit(&next, real, memory_order_relaxed);
  }
  return real(thread, size, mask);
}

EXPORTED int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* mask) {
  const int failure = ask_library(thread, size, mask);
  if (failure == 0 && !is_libgomp(__builtin_return_address(0))) narrow((unsigned char*)mask, size);
  return failure;
}

/// Whether a mask that is being set is the narrowed form of the thread's present mask. Then the call must
/// keep the present mask: programs save a mask and restore it later, and that must not pin them.
/// \param now  the present mask, of `longest_mask` bytes; this function narrows it
static bool is_answer(unsigned char* now, size_t size, const unsigned char* mask) {
  const uint32_t before = preload_count_cpus(now, longest_mask);
  narrow(now, longest_mask);
  // Programs pin a thread with a mask of one CPU, so such a mask is set as given.
  const uint32_t answered = preload_count_cpus(now, longest_mask);
  return answered > 1 && answered < before && memcmp(now, mask, size) == 0 &&
         preload_count_cpus(now + size, longest_mask - size) == 0;
}

static bool is_own_answer(pid_t process, size_t size, const unsigned char* mask) {
  unsigned char now[longest_mask];
  if (mask == NULL || size > sizeof now || !is_own(process)) return false;  // the kernel rejects NULL
  const long length = ask_kernel(process, sizeof now, now);
  if (length < 0) return false;
  memset(now + length, 0, sizeof now - (size_t)length);
  return is_answer(now, size, mask);
}

/// A mask of `longest_mask` bytes.
typedef cpu_set_t long_mask[longest_mask / sizeof(cpu_set_t)];

static bool is_answer_of(pthread_t thread, size_t size, const unsigned char* mask) {
  long_mask now;
  return mask != NULL && size <= sizeof now && ask_library(thread, sizeof now, now) == 0 &&
         is_answer((unsigned char*)now, size, mask);
}

/// Writes the calling thread's mask into `whole` if `mask` is its narrowed form.
static bool widen(long_mask whole, size_t size, const unsigned char* mask) {
  return is_answer_of(pthread_self(), size, mask) && ask_library(pthread_self(), longest_mask, whole) == 0;
}

EXPORTED int sched_setaffinity(pid_t process, size_t size, const cpu_set_t* mask) {
  if (is_own_answer(process, size, (const unsigned char*)mask)) return 0;
  return (int)syscall(SYS_sched_setaffinity, process, size, mask);
}

EXPORTED int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* mask) {
  static int (*_Atomic next)(pthread_t, size_t, const cpu_set_t*);
  if (is_answer_of(thread, size, (const unsigned char*)mask)) return 0;
  int (*real)(pthread_t, size_t, const cpu_set_t*) = atomic_load_explicit(&next, memory_order_relaxed);
  if (real == NULL) {
    *(void**)&real = dlsym(RTLD_NEXT, "pthread_setaffinity_np");
    if (real == NULL) return ENOSYS;
    atomic_store_explicit(&next, real, memory_order_relaxed);
  }
  return real(thread, size, mask);
}

/// Sets the mask with which threads with these attributes start. If it is the narrowed form of the caller's
/// mask, they start with the whole mask instead.
EXPORTED int pthread_attr_setaffinity_np(pthread_attr_t* attributes, size_t size, const cpu_set_t* mask) {
  static int (*_Atomic next)(pthread_attr_t*, size_t, const cpu_set_t*);
  int (*real)(pthread_attr_t*, size_t, const cpu_set_t*) = atomic_load_explicit(&next, memory_order_relaxed);
  if (real == NULL) {
    *(void**)&real = dlsym(RTLD_NEXT, "pthread_attr_setaffinity_np");
    if (real == NULL) return ENOSYS;
    atomic_store_explicit(&next, real, memory_order_relaxed);
  }
  long_mask whole;
  return widen(whole, size, (const unsigned char*)mask) ? real(attributes, sizeof whole, whole)
                                                        : real(attributes, size, mask);
}
