/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: nothing is stored until a closure is called. Then each function saves its variables on an
 * explicit stack and returns a special value. The function at the bottom calls the closures on the saved
 * frames and resumes them, one after the other, by separate functions. */
#include "ways.h"

#include <stdlib.h>

#define RARELY(x) __builtin_expect(x, 0)
#define SPECIAL ((long)0x8000000000000001UL)

/** A frame that was saved. */
typedef struct saved {
  long (*resume)(struct saved* frame, long result, char* top);
  void (*visit)(struct saved* frame, long* sum); /**< the closure */
  int number, place;
  long sum;
} saved;

static char* explicit_stack;
static char* explicit_end; /**< of the saved frames */
static int unwinding;

static __attribute__((noinline, cold)) long ask(char* top) {
  unwinding = 1;
  explicit_end = top;
  return SPECIAL;
}

static void start(void) {
  if (explicit_stack == NULL) explicit_stack = (char*)malloc(1 << 23);
  if (explicit_stack == NULL) abort();
}

/** At the bottom: calls the closures of all saved frames, the innermost first, and resumes the frames. */
static long finish(long result, long* seen) {
  if (!unwinding) return result;
  unwinding = 0;
  char* const end = explicit_end;
  for (char* at = end; at > explicit_stack;) {
    at -= sizeof(saved);
    ((saved*)(void*)at)->visit((saved*)(void*)at, seen);
  }
  result = 0;
  for (char* at = end; at > explicit_stack;) {
    at -= sizeof(saved);
    saved* const frame = (saved*)(void*)at;
    result = frame->resume(frame, result, at + sizeof(saved));
  }
  return result;
}

/* ---- fib ---------------------------------------------------------------------------------------------- */

static long fib(int n, char* top);
static void fib_visit(saved* f, long* sum) {
  f->sum += *sum;
  f->number += (int)*sum;
}
static long fib_resume(saved* f, long result, char* top) {
  if (f->place == 2) return f->sum + result;
  f->sum = result;
  const long rest = fib(f->number - 2, top);
  return f->sum + rest;
}
static __attribute__((noinline, cold)) long fib_save(char* top, int n, int place, long sum) {
  saved* const f = (saved*)(void*)top;
  *f = (saved){fib_resume, fib_visit, n, place, sum};
  return SPECIAL;
}
static long fib(int n, char* top) {
  if (n < 2) {
    if (RARELY(closure_wanted)) return ask(top);
    return n;
  }
  const long sum = fib(n - 1, top + sizeof(saved));
  if (RARELY(sum == SPECIAL) && unwinding) return fib_save(top, n, 1, 0);
  const long rest = fib(n - 2, top + sizeof(saved));
  if (RARELY(rest == SPECIAL) && unwinding) return fib_save(top, n, 2, sum);
  return sum + rest;
}
long fib_unwind(int n) {
  start();
  long seen = 0;
  return finish(fib(n, explicit_stack), &seen);
}

/* ---- queens ------------------------------------------------------------------------------------------- */

static long queens(int k, char* top);
static long queens_from(int k, int p, long sum, char* top);
static long queens_resume(saved* f, long result, char* top) {
  (void)top;
  QUEENS_SET(f->number, f->place, 0);
  return queens_from(f->number, f->place + 1, f->sum + result, (char*)f);
}
static __attribute__((noinline, cold)) long queens_save(char* top, int k, int p, long sum) {
  saved* const f = (saved*)(void*)top;
  *f = (saved){queens_resume, fib_visit, k, p, sum};
  return SPECIAL;
}
static __attribute__((always_inline)) inline long queens_from(int k, int p, long sum, char* top) {
  for (; p < queens_count; p++)
    if (QUEENS_OPEN(k, p)) {
      QUEENS_SET(k, p, 1);
      const long r = queens(k + 1, top + sizeof(saved));
      if (RARELY(r == SPECIAL) && unwinding) return queens_save(top, k, p, sum);
      sum += r;
      QUEENS_SET(k, p, 0);
    }
  return sum;
}
static long queens(int k, char* top) {
  if (k == queens_count) {
    if (RARELY(closure_wanted)) return ask(top);
    return 1;
  }
  return queens_from(k, 0, 0, top);
}
long queens_unwind(int n) {
  start();
  queens_count = n;
  long seen = 0;
  return finish(queens(0, explicit_stack), &seen);
}

/* ---- a call at some depth ---------------------------------------------------------------------------- */

static void descend_visit(saved* f, long* sum) { *sum += f->sum; }
static long descend_resume(saved* f, long result, char* top) {
  (void)top;
  return f->sum + result;
}
static __attribute__((noinline, cold)) long descend_save(char* top, int depth) {
  saved* const f = (saved*)(void*)top;
  *f = (saved){descend_resume, descend_visit, depth, 1, 1};
  return SPECIAL;
}
static __attribute__((noinline)) long descend(int depth, char* top) {
  if (depth == 0) return ask(top);
  const long rest = descend(depth - 1, top + sizeof(saved));
  if (RARELY(rest == SPECIAL) && unwinding) return descend_save(top, depth);
  return rest + 1;
}
long descent_unwind(int depth) {
  start();
  long seen = 0;
  const long result = finish(descend(depth, explicit_stack), &seen);
  return result + seen;
}
