/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: as unwind.c, but the frames are saved by landing pads (`cleanup`, -fexceptions), which a forced
 * unwinding runs: a call that returns needs no test. */
#include "ways.h"

#include <setjmp.h>
#include <stdlib.h>
#include <unwind.h>

#define RARELY(x) __builtin_expect(x, 0)

typedef struct saved {
  long (*resume)(struct saved* frame, long result, char* top);
  void (*visit)(struct saved* frame, long* sum);
  int number, place;
  long sum;
} saved;

/** The variables that a function's landing pad saves. They are in registers until then. */
typedef struct pad {
  int place; /**< which call is under way; 0: none */
  int* number;
  long* sum;
  char* top;
} pad;

static char* explicit_stack;
static char* explicit_end;
static struct _Unwind_Exception unwinding;
static jmp_buf bottom;
static const void* bottom_frame;

/** The unwinder stops at the end of the frames that must be saved. */
static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                struct _Unwind_Exception* exception, struct _Unwind_Context* context,
                                void* unused) {
  (void)version, (void)kind, (void)exception, (void)unused;
  if ((actions & _UA_END_OF_STACK) != 0 || (const void*)_Unwind_GetCFA(context) >= bottom_frame)
    longjmp(bottom, 1);
  return _URC_NO_REASON;
}

static __attribute__((noinline, cold)) void ask(char* top) {
  explicit_end = top;
  _Unwind_ForcedUnwind(&unwinding, stop, NULL);
  abort();
}

static long finish(long* seen) {
  char* const end = explicit_end;
  for (char* at = end; at > explicit_stack;) {
    at -= sizeof(saved);
    ((saved*)(void*)at)->visit((saved*)(void*)at, seen);
  }
  long result = 0;
  for (char* at = end; at > explicit_stack;) {
    at -= sizeof(saved);
    saved* const frame = (saved*)(void*)at;
    result = frame->resume(frame, result, at + sizeof(saved));
  }
  return result;
}

static __attribute__((noinline)) long run(long (*function)(int, char*), int argument, long* seen) {
  if (explicit_stack == NULL) explicit_stack = (char*)malloc(1 << 23);
  if (explicit_stack == NULL) abort();
  bottom_frame = __builtin_frame_address(0);
  if (setjmp(bottom) != 0) return finish(seen);
  return function(argument, explicit_stack);
}

static void visit(saved* f, long* sum) {
  f->sum += *sum;
  f->number += (int)*sum;
}

/* ---- fib ---------------------------------------------------------------------------------------------- */

static long fib(int n, char* top);
static long fib_resume(saved* f, long result, char* top) {
  if (f->place == 2) return f->sum + result;
  f->sum = result;
  const long rest = fib(f->number - 2, top);
  return f->sum + rest;
}
static __attribute__((always_inline)) inline void fib_pad(pad* p) {
  if (p->place != 0) *(saved*)(void*)p->top = (saved){fib_resume, visit, *p->number, p->place, *p->sum};
}
static long fib(int n, char* top) {
  if (n < 2) {
    if (RARELY(closure_wanted)) ask(top);
    return n;
  }
  long sum = 0;
  long result;
  {
    __attribute__((cleanup(fib_pad))) pad p = {1, &n, &sum, top};
    sum = fib(n - 1, top + sizeof(saved));
    p.place = 2;
    result = sum + fib(n - 2, top + sizeof(saved));
    p.place = 0;
  }
  return result;
}
long fib_exceptions(int n) {
  long seen = 0;
  return run(fib, n, &seen);
}

/* ---- queens ------------------------------------------------------------------------------------------- */

static long queens(int k, char* top);
static long queens_from(int k, int p, long sum, char* top);
static long queens_resume(saved* f, long result, char* top) {
  (void)top;
  QUEENS_SET(f->number, f->place - 1, 0);
  return queens_from(f->number, f->place, f->sum + result, (char*)f);
}
typedef struct queens_pad_data {
  int *k, *p;
  long* sum;
  char* top;
  int on;
} queens_pad_data;
static __attribute__((always_inline)) inline void queens_pad(queens_pad_data* d) {
  if (d->on) *(saved*)(void*)d->top = (saved){queens_resume, visit, *d->k, *d->p + 1, *d->sum};
}
static __attribute__((always_inline)) inline long queens_from(int k, int p, long sum, char* top) {
  __attribute__((cleanup(queens_pad))) queens_pad_data d = {&k, &p, &sum, top, 1};
  for (; p < queens_count; p++)
    if (QUEENS_OPEN(k, p)) {
      QUEENS_SET(k, p, 1);
      sum += queens(k + 1, top + sizeof(saved));
      QUEENS_SET(k, p, 0);
    }
  d.on = 0;
  return sum;
}
static long queens(int k, char* top) {
  if (k == queens_count) {
    if (RARELY(closure_wanted)) ask(top);
    return 1;
  }
  return queens_from(k, 0, 0, top);
}
long queens_exceptions(int n) {
  long seen = 0;
  queens_count = n;
  return run(queens, 0, &seen);
}

/* ---- a call at some depth ---------------------------------------------------------------------------- */

static void descend_visit(saved* f, long* sum) { *sum += f->sum; }
static long descend_resume(saved* f, long result, char* top) {
  (void)top;
  return f->sum + result;
}
static __attribute__((always_inline)) inline void descend_pad(pad* p) {
  if (p->place != 0) *(saved*)(void*)p->top = (saved){descend_resume, descend_visit, *p->number, 1, 1};
}
static __attribute__((noinline)) long descend(int depth, char* top) {
  if (depth == 0) {
    if (closure_wanted == 0) ask(top); /* always; but no compiler takes this for an endless recursion */
    return 0;
  }
  long rest;
  {
    __attribute__((cleanup(descend_pad))) pad p = {1, &depth, NULL, top};
    rest = descend(depth - 1, top + sizeof(saved));
    p.place = 0;
  }
  return rest + 1;
}
long descent_exceptions(int depth) {
  long seen = 0;
  const long result = run(descend, depth, &seen);
  return result + seen;
}
