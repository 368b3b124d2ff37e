// SPDX-License-Identifier: Apache-2.0
// One of the NAS kernels: bench-npb-COMPILER KERNEL CLASS [TIMES]. Prints one JSON line with the seconds of
// all its times together; exit code 1 if a result is wrong.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npb.h"

bool npb_close(double value, double expected, double error) {
  return fabs((value - expected) / expected) <= error;
}

int npb_count_threads(void) {
  int threads = 0;
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  return threads;
}

void* npb_allocate(uint64_t count, uint64_t size) {
  void* const memory = calloc(count, size);
  if (memory != NULL) return memory;
  fprintf(stderr, "bench-npb: there is no memory for this class\n");
  exit(1);
}

struct kernel {
  const char* name;
  const char* classes;
  struct npb_result (*run)(char class_name);
};
static const struct kernel kernels[] = {
    {"cg", "SWA", npb_cg},
#ifndef NPB_ONLY_CG
    {"ep", "SWA", npb_ep}, {"lu", "SW", npb_lu},  {"bt", "SW", npb_bt},
    {"sp", "SW", npb_sp},  {"ua", "SWA", npb_ua},
#endif
};

/// Parses a number from 1 to 1000; 0: the text is not such a number.
static int read_times(const char* text) {
  char* end = NULL;
  const long times = strtol(text, &end, 10);
  return end != text && *end == '\0' && times >= 1 && times <= 1000 ? (int)times : 0;
}

int main(int count, char** arguments) {
  const int times = count == 4 ? read_times(arguments[3]) : 1;
  if ((count == 3 || count == 4) && times != 0 && arguments[2][0] != '\0' && arguments[2][1] == '\0') {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
      if (strcmp(arguments[1], kernels[i].name) != 0 || strchr(kernels[i].classes, arguments[2][0]) == NULL)
        continue;
      struct npb_result all = kernels[i].run(arguments[2][0]);
      for (int time = 1; time < times; ++time) {
        const struct npb_result one = kernels[i].run(arguments[2][0]);
        all.seconds += one.seconds;
        all.verified = all.verified && one.verified;
      }
      printf("{\"benchmark\":\"%s\",\"class\":\"%s\",\"seconds\":%.6f,\"threads\":%d,\"verified\":%s}\n",
             arguments[1], arguments[2], all.seconds, all.threads, all.verified ? "true" : "false");
      return all.verified ? 0 : 1;
    }
  }
  fprintf(stderr,
          "bench-npb: give a kernel and a class: cg, ep or ua with S, W or A, lu, bt or sp with S or W; and "
          "perhaps "
          "how often it should run, 1 to 1000\n");
  return 2;
}
