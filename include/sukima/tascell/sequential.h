/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that were compiled with `sukima cc --sequential` call: dynamic_wind and
 * try without a runtime. It precedes all that the user wrote: see language.h. */
#ifndef SUKIMA_DETAIL_SEQUENTIAL_H
#define SUKIMA_DETAIL_SEQUENTIAL_H

typedef __SIZE_TYPE__ sukima_size;

/** The result of sukima_sequential_try when a tag was thrown to it. */
#define SUKIMA_THROWN (-1)

/** A dynamic_wind or try around the running code; newest first from sukima_sequential_newest on. */
typedef struct sukima_sequential {
  struct sukima_sequential* outer;
  void (*after)(void* record); /**< AFTER of a dynamic_wind; NULL: a try */
} sukima_sequential;

extern __thread sukima_sequential* sukima_sequential_newest;

static __inline__ void sukima_sequential_enter(sukima_sequential* record, void (*after)(void*)) {
  record->outer = sukima_sequential_newest;
  record->after = after;
  sukima_sequential_newest = record;
}

/** The dynamic_wind is left; its AFTER runs next. */
static __inline__ void sukima_sequential_leave(sukima_sequential* record) {
  sukima_sequential_newest = record->outer;
}

/** Leaves everything up to the nearest try with an equal tag, from the inside out. Without one the program
 *  ends with a message and status 70. */
void sukima_sequential_throw(sukima_size tag, const char* file, int line) __attribute__((noreturn));

/** Calls the body. \returns what it returns, or SUKIMA_THROWN */
int sukima_sequential_try(sukima_size tag, int (*body)(char*, void*), void* frame);

/** A label that a closure jumps to (closure.h is its other form). */
typedef struct sukima_sequential_exit {
  sukima_sequential* newest; /**< when the closure came to life */
  const void* frame; /**< all frames that the function has called lie below */
  long long context[64] __attribute__((aligned(16)));
} sukima_sequential_exit;

void sukima_sequential_exit_begin(sukima_sequential_exit* exit) __attribute__((noinline));
void sukima_sequential_exit_take(sukima_sequential_exit* exit) __attribute__((noreturn));

#endif
