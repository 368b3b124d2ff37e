/* SPDX-License-Identifier: Apache-2.0 */
/* bench-closures: the cost of closures that are not called, and of a call of one by the depth of the stack,
 * for each way of making closures. One JSON line for each figure. */
#include "ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct way {
  const char* name;
  long (*fib)(int);
  long (*queens)(int);
  long (*descent)(int);
} way;

static const way ways[] = {
    {"none", fib_none, queens_none, descent_none},
    {"frame", fib_frame, queens_frame, descent_frame},
    {"unwind", fib_by_unwind, queens_by_unwind, descent_by_unwind},
    {"exceptions", fib_by_exceptions, queens_by_exceptions, descent_by_exceptions},
    {"unwind, by hand", fib_unwind, queens_unwind, descent_unwind},
    {"exceptions, by hand", fib_exceptions, queens_exceptions, descent_exceptions},
};
enum { way_count = sizeof ways / sizeof ways[0] };

/** The least of several times of a whole run: everything above it is disturbance. */
static double best_seconds(long (*function)(int), int argument, long expected, int repetitions) {
  double best = 1e9;
  for (int k = 0; k < repetitions; k++) {
    const double begun = now();
    const long result = function(argument);
    const double seconds = now() - begun;
    if (result != expected) {
      fprintf(stderr, "bench-closures: wrong result %ld instead of %ld\n", result, expected);
      exit(1);
    }
    if (seconds < best) best = seconds;
  }
  return best;
}

static void uncalled(const char* program, long (*const functions[way_count])(int), int size,
                     int repetitions) {
  const long expected = functions[0](size);
  double best[way_count];
  for (int w = 0; w < way_count; w++) best[w] = 1e9;
  for (int k = 0; k < repetitions; k++) /* in turns, so that all see the same machine */
    for (int w = 0; w < way_count; w++) {
      const double seconds = best_seconds(functions[w], size, expected, 1);
      if (seconds < best[w]) best[w] = seconds;
    }
  for (int w = 0; w < way_count; w++)
    printf("{\"program\":\"%s\",\"size\":%d,\"way\":\"%s\",\"seconds\":%.4f,\"ratio\":%.3f}\n", program, size,
           ways[w].name, best[w], best[w] / best[0]);
}

int main(int argc, char** argv) {
  int fib_size = 38, queens_size = 11, repetitions = 5;
  if (argc == 2 && strcmp(argv[1], "--quick") == 0) {
    fib_size = 20;
    queens_size = 6;
    repetitions = 2;
  } else if (argc > 1) {
    fprintf(stderr, "Usage: bench-closures [--quick]: what closures cost, one JSON line for each figure\n");
    return 2;
  }
  long (*functions[way_count])(int);
  for (int w = 0; w < way_count; w++) functions[w] = ways[w].fib;
  uncalled("fib", functions, fib_size, repetitions);
  for (int w = 0; w < way_count; w++) functions[w] = ways[w].queens;
  uncalled("queens", functions, queens_size, repetitions);
  for (int depth = 10; depth <= 10000; depth *= 10)
    for (int w = 0; w < way_count; w++) {
      const double seconds = best_seconds(ways[w].descent, depth, 2L * depth, depth < 10000 ? 200 : 20);
      printf(
          "{\"program\":\"call\",\"depth\":%d,\"way\":\"%s\",\"microseconds\":%.3f,\"nanoseconds_a_frame\":%."
          "2f}\n",
          depth, ways[w].name, seconds * 1e6, seconds * 1e9 / depth);
    }
  return 0;
}
