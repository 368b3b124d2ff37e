// SPDX-License-Identifier: Apache-2.0
// An OpenMP program for the tests of `sukima run`: sums numbers in parallel regions for a while, and tells
// how many threads its first and its last region had, and the sum.
//   openmp SECONDS [asks]      asks: calls omp_get_max_threads first
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(int count, char** arguments) {
  const double seconds = count > 1 ? atof(arguments[1]) : 0;
  if (count > 2 && strcmp(arguments[2], "asks") == 0) printf("told %d\n", omp_get_max_threads());
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
