// SPDX-License-Identifier: Apache-2.0
// An OpenMP program for the tests of `sukima run`: sums numbers in parallel regions for a while. Prints
// how many threads its first and its last region had, and the sum.
//   openmp SECONDS [asks|pauses]
//   openmp REGIONS work       runs so many regions, each of a tenth of a millisecond on two CPUs
//     asks    calls omp_get_max_threads first
//     pauses  sleeps for 5 ms after each region, and prints the CPU time that all threads have used together,
//             and how many threads the process has
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int threads_of_a_region(double* sum) {
  int threads = 0;
  double partial = 0;
#pragma omp parallel reduction(+ : partial)
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for
    for (int i = 1; i <= 100000; i++) partial += i;
  }
  *sum = partial;
  return threads;
}

static int threads_of_a_combined_loop(void) {
  int seen[4096] = {0};
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 4096; i++) seen[i] = omp_get_num_threads();
  return seen[4095];
}

static int count_threads(void) {
  FILE* const status = fopen("/proc/self/status", "r");
  char line[256];
  int threads = 0;
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "Threads: %d", &threads);
  if (status != NULL) fclose(status);
  return threads;
}

/// What idle threads do while the program's own thread sleeps costs CPU time, or does not.
static void run_with_pauses(double seconds) {
  const double begin = omp_get_wtime();
  const clock_t used = clock();
  double sum = 0;
  while (omp_get_wtime() - begin < seconds) {
    threads_of_a_region(&sum);
    nanosleep(&(struct timespec){0, 5000000}, NULL);
  }
  printf("used %.3f\nprocess %d\n", (double)(clock() - used) / CLOCKS_PER_SEC, count_threads());
}

/// For lab/scripts/run-table.py.
static void work(long regions) {
  double sum = 0;
  for (long region = 0; region < regions; region++) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 1; i <= 50000; i++) sum += 1.0 / (region + i);
  }
  printf("result %.6f\n", sum);
}

int main(int count, char** arguments) {
  if (count > 2 && strcmp(arguments[2], "work") == 0) {
    work(atol(arguments[1]));
    return 0;
  }
  const double seconds = count > 1 ? atof(arguments[1]) : 0;
  if (count > 2 && strcmp(arguments[2], "asks") == 0) printf("maximum %d\n", omp_get_max_threads());
  if (count > 2 && strcmp(arguments[2], "pauses") == 0) {
    run_with_pauses(seconds);
    return 0;
  }
  double sum = 0;
  const double begin = omp_get_wtime();
  printf("first %d\n", threads_of_a_region(&sum));
  fflush(stdout);
  int last = 0;
  do {
    last = threads_of_a_region(&sum);
  } while (omp_get_wtime() - begin < seconds);
  int given = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  given = omp_get_num_threads();
  int inner = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp single
#pragma omp parallel num_threads(1)
    inner = omp_get_num_threads();
  }
  printf("last %d\nloop %d\ngiven %d\ninner %d\nresult %.0f\n", last, threads_of_a_combined_loop(), given,
         inner, sum);
  return 0;
}
