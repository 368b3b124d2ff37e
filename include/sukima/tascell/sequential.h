/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that programs compiled with `sukima cc --sequential` call: dynamic_wind and try without a
 * runtime. This header comes before all text of the user: see tascell.h. */
#ifndef SUKIMA_DETAIL_SEQUENTIAL_H
#define SUKIMA_DETAIL_SEQUENTIAL_H

typedef __SIZE_TYPE__ sukima_size;

/** The result of sukima_sequential_try when a tag was thrown to it. */
#define SUKIMA_THROWN (-1)

/** A dynamic_wind or try around the running code. The list begins with sukima_sequential_newest. */
typedef struct sukima_sequential {
  struct sukima_sequential* outer;
  void (*after)(void* record); /**< AFTER of a dynamic_wind; NULL: a try */
} sukima_sequential;

extern __thread sukima_sequential* sukima_sequential_newest;

/** Enters a dynamic_wind, or a try if `after` is NULL. */
static __inline__ void sukima_sequential_enter(sukima_sequential* record, void (*after)(void*)) {
  record->outer = sukima_sequential_newest;
  record->after = after;
  sukima_sequential_newest = record;
}

/** Leaves the dynamic_wind, before its AFTER runs. */
static __inline__ void sukima_sequential_leave(sukima_sequential* record) {
  sukima_sequential_newest = record->outer;
}

/** Leaves everything up to the nearest try with an equal tag, from the inside out. Without such a try the
 *  program ends with a message and status 70. */
void sukima_sequential_throw(sukima_size tag, const char* file, int line) __attribute__((noreturn));

/** Calls the body inside a try. \returns what the body returns, or SUKIMA_THROWN */
int sukima_sequential_try(sukima_size tag, int (*body)(char*, void*), void* frame);

/** A label to which a closure jumps (sukima_exit in closure.h is the form for the runtime). */
typedef struct sukima_sequential_exit {
  sukima_sequential* newest; /**< the newest record when the closure began to exist */
  const void* frame; /**< the frames of functions that it has called are below this address */
  long long context[64] __attribute__((aligned(16)));
} sukima_sequential_exit;

/** Called when the closure begins to exist. */
void sukima_sequential_exit_begin(sukima_sequential_exit* exit) __attribute__((noinline));
/** Jumps to the label. */
void sukima_sequential_exit_take(sukima_sequential_exit* exit) __attribute__((noreturn));

#endif
