// SPDX-License-Identifier: Apache-2.0
// sukima-guest-agent THREADS SECONDS [steal]: runs in a guest. It keeps that many threads busy, and every
// half second prints a line of JSON with the estimates of what they get and of what 1, 2, ... threads would
// get. With "steal" it also probes for unreported steal time, as a program does that does not trust what the
// hypervisor reports.
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sukima/capacity.h>
#include <sukima/capacity/estimate.h>

enum { most_threads = 64, samples_between_lines = 5, samples_between_probes = 10 };

static const double probe_seconds = 1;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void* compute(void* unused) {
  (void)unused;
  for (;;) atomic_signal_fence(memory_order_seq_cst);
  return NULL;
}

typedef struct reader {
  pthread_t thread;
  int cpu;
  double taken;
} reader;

static void* read_clock(void* argument) {
  reader* me = argument;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((unsigned)me->cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    me->taken = NAN;
  else
    sukima_capacity_probe_steal(probe_seconds, &me->taken);
  return NULL;
}

static double mean_of_steal(int cpus) {
  reader readers[most_threads];
  for (int cpu = 0; cpu < cpus; cpu++) {
    readers[cpu] = (reader){.cpu = cpu, .taken = NAN};
    if (pthread_create(&readers[cpu].thread, NULL, read_clock, &readers[cpu]) != 0) exit(1);
  }
  double sum = 0;
  int known = 0;
  for (int cpu = 0; cpu < cpus; cpu++) {
    pthread_join(readers[cpu].thread, NULL);
    if (isnan(readers[cpu].taken)) continue;
    sum += readers[cpu].taken;
    known++;
  }
  return known != 0 ? sum / known : NAN;
}

int main(int count, char** arguments) {
  const bool steal = count == 4 && strcmp(arguments[3], "steal") == 0;
  const bool understood = count == 3 || steal;
  const int threads = understood ? atoi(arguments[1]) : 0;
  const double seconds = understood ? atof(arguments[2]) : 0;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int cpus = online < most_threads ? (int)online : most_threads;
  if (threads < 1 || threads > most_threads || !(seconds > 0)) {
    fprintf(stderr,
            "sukima-guest-agent: give a number of threads from 1 to %d, seconds, and perhaps: steal\n",
            most_threads);
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  sukima_capacity_estimator* estimator = sukima_capacity_estimator_open(NULL);
  if (estimator == NULL) return 1;
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, compute, NULL) != 0) return 1;
  }
  const double begin = now();
  for (int sample = 0; now() - begin < seconds; sample++) {
    if (steal && sample % samples_between_probes == 0) {
      sukima_capacity_estimator_add_steal_probe(estimator, mean_of_steal(cpus));
    }
    usleep(100000);
    sukima_capacity_estimator_sample(estimator, 0);
    if (sample % samples_between_lines != samples_between_lines - 1) continue;
    sukima_capacity_load load;
    sukima_capacity_estimator_load(estimator, &load);
    printf("{\"seconds\": %.2f, \"now\": %.3f, \"stolen\": %.3f, \"usable\": [", now() - begin, load.now,
           load.stolen);
    for (int k = 1; k <= cpus; k++) {
      sukima_capacity_estimate estimate;
      sukima_capacity_estimator_usable(estimator, k, &estimate);
      printf("%s%.3f", k == 1 ? "" : ", ", estimate.usable);
    }
    printf("]}\n");
  }
  return 0;
}
