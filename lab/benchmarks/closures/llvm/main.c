/* SPDX-License-Identifier: Apache-2.0 */
/* Times the two functions of fib.ll: main [N]. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int closure_wanted = 0;
void fib_ask(void);
void fib_ask(void) { abort(); }
long fib_stackmap(int n);
long fib_plain(int n);

static double seconds(long (*function)(int), int n, long* result) {
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  *result = function(n);
  clock_gettime(CLOCK_MONOTONIC, &b);
  return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 38;
  double plain = 1e9, mapped = 1e9;
  long a = 0, b = 0;
  for (int k = 0; k < 7; k++) {
    const double p = seconds(fib_plain, n, &a);
    const double m = seconds(fib_stackmap, n, &b);
    if (p < plain) plain = p;
    if (m < mapped) mapped = m;
  }
  printf("fib(%d) = %ld: plain %.4f s, with stack maps %.4f s, ratio %.3f\n", n, b, plain, mapped,
         mapped / plain);
  return a == b ? 0 : 1;
}
