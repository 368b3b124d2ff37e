/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that were compiled with `sukima cc --sequential` call: dynamic_wind and
 * try without a runtime. Every definition is weak, so that any number of files may bring it along. */
#ifndef SUKIMA_DETAIL_SEQUENTIAL_H
#define SUKIMA_DETAIL_SEQUENTIAL_H

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/** What sukima_sequential_try returns when something was thrown to it. */
#define SUKIMA_THROWN (-1)

/** A dynamic_wind or try that control is inside of; newest first from sukima_sequential_newest on. */
typedef struct sukima_sequential {
  struct sukima_sequential* outer;
  void (*after)(void* record); /**< AFTER of a dynamic_wind; NULL: a try */
} sukima_sequential;

typedef struct sukima_sequential_catcher {
  sukima_sequential head;
  size_t tag;
  jmp_buf context;
} sukima_sequential_catcher;

extern __thread sukima_sequential* sukima_sequential_newest;
__attribute__((weak)) __thread sukima_sequential* sukima_sequential_newest;

static inline void sukima_sequential_enter(sukima_sequential* record, void (*after)(void*)) {
  record->outer = sukima_sequential_newest;
  record->after = after;
  sukima_sequential_newest = record;
}

/** The dynamic_wind is left; its AFTER runs next. */
static inline void sukima_sequential_leave(sukima_sequential* record) {
  sukima_sequential_newest = record->outer;
}

/** Leaves everything up to the nearest try with an equal tag, from the inside out. */
void sukima_sequential_throw(size_t tag, const char* file, int line) __attribute__((noreturn));
__attribute__((weak, noreturn)) void sukima_sequential_throw(size_t tag, const char* file, int line) {
  while (sukima_sequential_newest != NULL) {
    sukima_sequential* const record = sukima_sequential_newest;
    sukima_sequential_newest = record->outer;
    if (record->after != NULL) {
      record->after(record);
    } else if (((sukima_sequential_catcher*)record)->tag == tag) {
      longjmp(((sukima_sequential_catcher*)record)->context, 1);
    }
  }
  fflush(stdout);
  fprintf(stderr, "%s:%d: uncaught throw of tag %zu\n", file, line, tag);
  _Exit(70);
}

/** Calls the body. \returns what it returns, or SUKIMA_THROWN */
int sukima_sequential_try(size_t tag, int (*body)(char*, void*), void* frame);
__attribute__((weak, noinline)) int sukima_sequential_try(size_t tag, int (*body)(char*, void*),
                                                          void* frame) {
  sukima_sequential_catcher catcher;
  sukima_sequential_enter(&catcher.head, NULL);
  catcher.tag = tag;
  if (setjmp(catcher.context) != 0) return SUKIMA_THROWN;
  const int code = body(NULL, frame);
  sukima_sequential_leave(&catcher.head);
  return code;
}

#endif
