/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_wind and try of programs that were compiled with `sukima cc --sequential`. This file is an object
 * of its own in libsukima, so that it does not link the runtime. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sukima/tascell/closure.h>
#include <sukima/tascell/sequential.h>

_Static_assert(sizeof(jmp_buf) <= sizeof(((sukima_sequential_exit*)0)->context), "a jmp_buf fits in");

typedef struct sukima_sequential_catcher {
  sukima_sequential head;
  sukima_size tag;
  jmp_buf context;
} sukima_sequential_catcher;

__thread sukima_sequential* sukima_sequential_newest;

void sukima_sequential_throw(sukima_size tag, const char* file, int line) {
  while (sukima_sequential_newest != NULL) {
    sukima_sequential* const record = sukima_sequential_newest;
    sukima_sequential_newest = record->outer;
    if (record->after != NULL) {
      record->after(record);
    } else if (((sukima_sequential_catcher*)record)->tag == tag) {
      sukima_tickets_left(__builtin_frame_address(0), record);
      longjmp(((sukima_sequential_catcher*)record)->context, 1);
    }
  }
  fflush(stdout);
  fprintf(stderr, "%s:%d: uncaught throw of tag %zu\n", file, line, tag);
  _Exit(70);
}

void sukima_sequential_exit_begin(sukima_sequential_exit* exit) {
  exit->newest = sukima_sequential_newest;
  exit->frame = __builtin_frame_address(0);
}

void sukima_sequential_exit_take(sukima_sequential_exit* exit) {
  while (sukima_sequential_newest != exit->newest && sukima_sequential_newest != NULL) {
    sukima_sequential* const record = sukima_sequential_newest;
    sukima_sequential_newest = record->outer;
    if (record->after != NULL) record->after(record);
  }
  sukima_tickets_left(__builtin_frame_address(0), exit->frame);
  jmp_buf context;
  memcpy(&context, exit->context, sizeof context);
  longjmp(context, 1);
}

int sukima_sequential_try(sukima_size tag, int (*body)(char*, void*), void* frame) {
  sukima_sequential_catcher catcher;
  sukima_sequential_enter(&catcher.head, NULL);
  catcher.tag = tag;
  if (setjmp(catcher.context) != 0) return SUKIMA_THROWN;
  const int code = body(NULL, frame);
  sukima_sequential_leave(&catcher.head);
  return code;
}
