// SPDX-License-Identifier: Apache-2.0
// Replaces the entry points that compilers call for a parallel region (gcc's GOMP_parallel…, clang's
// __kmpc_fork_call). The replacements notify the wait monitor of the region. If the user allows a program to
// change its number of threads between regions, they also pass the number of threads.
//
// Regions for which the program itself gives the number (num_threads, omp_set_num_threads) and nested regions
// stay unchanged. No setting of the runtime is changed: the number is passed with each region.
#define _GNU_SOURCE
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "decision.h"
#include "next_function.h"
#include "region.h"

#define EXPORTED __attribute__((visibility("default")))

/// Finds the function `name` of the runtime with which the caller is linked.
#define NEXT(type, name) ((type)preload_next_function(#name, __builtin_return_address(0)))
#define FIND(type, name) ((type)preload_find_function(#name, __builtin_return_address(0)))

typedef void region_body(void* data);

/// The common part of gcc's entry points. `number` is the program's number, 0 if it gives none.
#define RUN_REGION(body, number, call)                                                            \
  do {                                                                                            \
    struct preload_region region;                                                                 \
    const unsigned chosen_number =                                                                \
        preload_region_begins(&region, (uintptr_t)(body), (number), __builtin_return_address(0)); \
    call;                                                                                         \
    preload_region_ends(&region);                                                                 \
  } while (0)

typedef void gomp_parallel(region_body*, void*, unsigned, unsigned);
EXPORTED void GOMP_parallel(region_body* body, void* data, unsigned threads, unsigned flags);
void GOMP_parallel(region_body* body, void* data, unsigned threads, unsigned flags) {
  gomp_parallel* const next = NEXT(gomp_parallel*, GOMP_parallel);
  RUN_REGION(body, threads, next(body, data, chosen_number, flags));
}

typedef unsigned gomp_parallel_reductions(region_body*, void*, unsigned, unsigned);
EXPORTED unsigned GOMP_parallel_reductions(region_body* body, void* data, unsigned threads, unsigned flags);
unsigned GOMP_parallel_reductions(region_body* body, void* data, unsigned threads, unsigned flags) {
  gomp_parallel_reductions* const next = NEXT(gomp_parallel_reductions*, GOMP_parallel_reductions);
  unsigned result = 0;
  RUN_REGION(body, threads, result = next(body, data, chosen_number, flags));
  return result;
}

typedef void gomp_parallel_sections(region_body*, void*, unsigned, unsigned, unsigned);
EXPORTED void GOMP_parallel_sections(region_body* body, void* data, unsigned threads, unsigned count,
                                     unsigned flags);
void GOMP_parallel_sections(region_body* body, void* data, unsigned threads, unsigned count, unsigned flags) {
  gomp_parallel_sections* const next = NEXT(gomp_parallel_sections*, GOMP_parallel_sections);
  // At most one thread per section can have work, but a number that the program gives is kept.
  RUN_REGION(body, threads,
             next(body, data, threads == 0 && chosen_number > count ? count : chosen_number, count, flags));
}

/// A loop with a chunk size.
#define CHUNKED_LOOP(name)                                                                                \
  typedef void name##_type(region_body*, void*, unsigned, long, long, long, long, unsigned);              \
  EXPORTED void name(region_body* body, void* data, unsigned threads, long start, long end, long step,    \
                     long chunk, unsigned flags);                                                         \
  void name(region_body* body, void* data, unsigned threads, long start, long end, long step, long chunk, \
            unsigned flags) {                                                                             \
    name##_type* const next = NEXT(name##_type*, name);                                                   \
    RUN_REGION(body, threads, next(body, data, chosen_number, start, end, step, chunk, flags));           \
  }

/// A loop whose schedule is chosen at run time.
#define RUNTIME_LOOP(name)                                                                             \
  typedef void name##_type(region_body*, void*, unsigned, long, long, long, unsigned);                 \
  EXPORTED void name(region_body* body, void* data, unsigned threads, long start, long end, long step, \
                     unsigned flags);                                                                  \
  void name(region_body* body, void* data, unsigned threads, long start, long end, long step,          \
            unsigned flags) {                                                                          \
    name##_type* const next = NEXT(name##_type*, name);                                                \
    RUN_REGION(body, threads, next(body, data, chosen_number, start, end, step, flags));               \
  }

CHUNKED_LOOP(GOMP_parallel_loop_static)
CHUNKED_LOOP(GOMP_parallel_loop_dynamic)
CHUNKED_LOOP(GOMP_parallel_loop_guided)
CHUNKED_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

typedef void kmpc_body(int32_t*, int32_t*, ...);
typedef void kmpc_fork_call(void*, int32_t, kmpc_body*, ...);
typedef void kmpc_push_num_threads(void*, int32_t, int32_t);
typedef int32_t kmpc_global_thread_num(void*);

/// The number in a num_threads clause for the next region of this thread; 0: there is none.
static _Thread_local unsigned number_given;

static void note_number(int32_t number) { number_given = number > 0 ? (unsigned)number : 1; }

EXPORTED void __kmpc_push_num_threads(void* place, int32_t thread, int32_t number);
void __kmpc_push_num_threads(void* place, int32_t thread, int32_t number) {
  kmpc_push_num_threads* const next = NEXT(kmpc_push_num_threads*, __kmpc_push_num_threads);
  note_number(number);
  next(place, thread, number);
}

// A list has the numbers of the region and of those nested in it; `strict` numbers must not be reduced.
// Newer versions of clang call these.

EXPORTED void __kmpc_push_num_threads_strict(void* place, int32_t thread, int32_t number, int severity,
                                             const char* message);
void __kmpc_push_num_threads_strict(void* place, int32_t thread, int32_t number, int severity,
                                    const char* message) {
  typedef void push_strict(void*, int32_t, int32_t, int, const char*);
  push_strict* const next = NEXT(push_strict*, __kmpc_push_num_threads_strict);
  note_number(number);
  next(place, thread, number, severity, message);
}

EXPORTED void __kmpc_push_num_threads_list(void* place, int32_t thread, uint32_t length, int32_t* numbers);
void __kmpc_push_num_threads_list(void* place, int32_t thread, uint32_t length, int32_t* numbers) {
  typedef void push_list(void*, int32_t, uint32_t, int32_t*);
  push_list* const next = NEXT(push_list*, __kmpc_push_num_threads_list);
  if (length != 0) note_number(numbers[0]);
  next(place, thread, length, numbers);
}

EXPORTED void __kmpc_push_num_threads_list_strict(void* place, int32_t thread, uint32_t length,
                                                  int32_t* numbers, int severity, const char* message);
void __kmpc_push_num_threads_list_strict(void* place, int32_t thread, uint32_t length, int32_t* numbers,
                                         int severity, const char* message) {
  typedef void push_strict_list(void*, int32_t, uint32_t, int32_t*, int, const char*);
  push_strict_list* const next = NEXT(push_strict_list*, __kmpc_push_num_threads_list_strict);
  if (length != 0) note_number(numbers[0]);
  next(place, thread, length, numbers, severity, message);
}

typedef void kmpc_serialized_parallel(void*, int32_t);

/// A region whose if clause is false. The runtime discards the number that was given for it.
EXPORTED void __kmpc_serialized_parallel(void* place, int32_t thread);
void __kmpc_serialized_parallel(void* place, int32_t thread) {
  kmpc_serialized_parallel* const next = NEXT(kmpc_serialized_parallel*, __kmpc_serialized_parallel);
  number_given = 0;
  next(place, thread);
}

/// Passes the number of threads of the next region to clang's runtime.
static void push_number(void* place, unsigned number, const void* caller) {
  kmpc_push_num_threads* const push =
      (kmpc_push_num_threads*)preload_next_function("__kmpc_push_num_threads", caller);
  kmpc_global_thread_num* const self =
      (kmpc_global_thread_num*)preload_next_function("__kmpc_global_thread_num", caller);
  push(place, self(place), (int32_t)number);
}

#define A4(i) a[i], a[(i) + 1], a[(i) + 2], a[(i) + 3]
#define A16(i) A4(i), A4((i) + 4), A4((i) + 8), A4((i) + 12)
#define A64(i) A16(i), A16((i) + 16), A16((i) + 32), A16((i) + 48)
/// The largest number of variables that a region may share with its surroundings.
enum { most_shared = 256 };

/// Calls `next` with the arguments of a region. Each of them is as large as a pointer, and the runtime reads
/// only the first `count` of them. So calls with 16, 64 and 256 arguments are enough for all counts.
static void fork_call(kmpc_fork_call* next, void* place, int32_t count, kmpc_body* body, void** a) {
  if (count <= 16) {
    next(place, count, body, A16(0));
  } else if (count <= 64) {
    next(place, count, body, A64(0));
  } else {
    next(place, count, body, A64(0), A64(64), A64(128), A64(192));
  }
}

EXPORTED void __kmpc_fork_call(void* place, int32_t count, kmpc_body* body, ...);
void __kmpc_fork_call(void* place, int32_t count, kmpc_body* body, ...) {
  const void* const caller = __builtin_return_address(0);
  kmpc_fork_call* const next = NEXT(kmpc_fork_call*, __kmpc_fork_call);
  if (count > most_shared) {
    fprintf(
        stderr,
        "sukima run: a parallel region shares %d variables with its surroundings, more than the %d that the "
        "preloaded library can pass on; start the program with sukima run --no-preload\n",
        (int)count, (int)most_shared);
    abort();
  }
  // Set only as many arguments as fork_call reads.
  void* arguments[most_shared];
  const int32_t read = count <= 16 ? 16 : count <= 64 ? 64 : most_shared;
  va_list rest;
  va_start(rest, body);
  for (int32_t i = 0; i < count; ++i) arguments[i] = va_arg(rest, void*);
  va_end(rest);
  for (int32_t i = count; i < read; ++i) arguments[i] = NULL;
  const unsigned given = number_given;
  number_given = 0;
  struct preload_region region;
  const unsigned number = preload_region_begins(&region, (uintptr_t)body, given, caller);
  if (given == 0 && number != 0) push_number(place, number, caller);
  fork_call(next, place, count, body, arguments);
  preload_region_ends(&region);
}

typedef void kmpc_fork_call_if(void*, int32_t, kmpc_body*, int32_t, void*);
EXPORTED void __kmpc_fork_call_if(void* place, int32_t count, kmpc_body* body, int32_t condition, void* data);
void __kmpc_fork_call_if(void* place, int32_t count, kmpc_body* body, int32_t condition, void* data) {
  const void* const caller = __builtin_return_address(0);
  kmpc_fork_call_if* const next = NEXT(kmpc_fork_call_if*, __kmpc_fork_call_if);
  const unsigned given = condition == 0 ? 1 : number_given;
  number_given = 0;
  struct preload_region region;
  const unsigned number = preload_region_begins(&region, (uintptr_t)body, given, caller);
  if (given == 0 && number != 0) push_number(place, number, caller);
  next(place, count, body, condition, data);
  preload_region_ends(&region);
}

typedef void omp_set(int);
typedef void omp_set_fortran(const int32_t*);
typedef void omp_set_fortran_8(const int64_t*);
typedef int omp_get(void);

// Programs without OpenMP look up these functions to find out whether there is OpenMP. Without OpenMP, a
// setter does nothing, and a getter returns the number that fits.

EXPORTED void omp_set_num_threads(int number);
void omp_set_num_threads(int number) {
  preload_program_sets_threads(number);
  omp_set* const next = FIND(omp_set*, omp_set_num_threads);
  if (next != NULL) next(number);
}

EXPORTED void omp_set_num_threads_(const int32_t* number);
void omp_set_num_threads_(const int32_t* number) {
  preload_program_sets_threads(*number);
  omp_set_fortran* const next = FIND(omp_set_fortran*, omp_set_num_threads_);
  if (next != NULL) next(number);
}

/// The same for numbers of eight bytes, in gcc's runtime.
EXPORTED void omp_set_num_threads_8_(const int64_t* number);
void omp_set_num_threads_8_(const int64_t* number) {
  preload_program_sets_threads(*number < INT_MAX ? (int)*number : INT_MAX);
  omp_set_fortran_8* const next = FIND(omp_set_fortran_8*, omp_set_num_threads_8_);
  if (next != NULL) next(number);
}

EXPORTED int omp_get_max_threads(void);
int omp_get_max_threads(void) {
  omp_get* const next = FIND(omp_get*, omp_get_max_threads);
  return preload_program_asks_threads(next != NULL ? next() : 0, __builtin_return_address(0));
}

EXPORTED int32_t omp_get_max_threads_(void);
int32_t omp_get_max_threads_(void) {
  omp_get* const next = FIND(omp_get*, omp_get_max_threads_);
  return preload_program_asks_threads(next != NULL ? next() : 0, __builtin_return_address(0));
}

EXPORTED int omp_get_num_procs(void);
int omp_get_num_procs(void) {
  omp_get* const next = FIND(omp_get*, omp_get_num_procs);
  return preload_program_asks_processors(next != NULL ? next() : 0, __builtin_return_address(0));
}

EXPORTED int32_t omp_get_num_procs_(void);
int32_t omp_get_num_procs_(void) {
  omp_get* const next = FIND(omp_get*, omp_get_num_procs_);
  return preload_program_asks_processors(next != NULL ? next() : 0, __builtin_return_address(0));
}
