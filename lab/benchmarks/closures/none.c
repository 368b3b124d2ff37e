/* SPDX-License-Identifier: Apache-2.0 */
/* The same programs without closures, and the board. */
#include "ways.h"

#include <stdlib.h>

#define RARELY(x) __builtin_expect(x, 0)

int closure_wanted = 0;
int queens_count;
char queens_used[most_queens], queens_up[2 * most_queens], queens_down[2 * most_queens];

static long fib(int n) {
  if (n < 2) {
    if (RARELY(closure_wanted)) abort();
    return n;
  }
  const long sum = fib(n - 1);
  return sum + fib(n - 2);
}
long fib_none(int n) { return fib(n); }

static long queens(int k) {
  if (k == queens_count) {
    if (RARELY(closure_wanted)) abort();
    return 1;
  }
  long sum = 0;
  for (int p = 0; p < queens_count; p++)
    if (QUEENS_OPEN(k, p)) {
      QUEENS_SET(k, p, 1);
      sum += queens(k + 1);
      QUEENS_SET(k, p, 0);
    }
  return sum;
}
long queens_none(int n) {
  queens_count = n;
  return queens(0);
}

static __attribute__((noinline)) long descend(int depth, long* seen) {
  __asm__ volatile("" : : : "memory");
  if (depth == 0) {
    *seen += 0;
    return 0;
  }
  const long rest = descend(depth - 1, seen);
  return rest + 1;
}
long descent_none(int depth) {
  long seen = 0;
  const long result = descend(depth, &seen);
  return result + seen + depth;
}
