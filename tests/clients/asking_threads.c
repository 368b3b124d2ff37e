// SPDX-License-Identifier: Apache-2.0
// Four threads ask for the number of CPUs in every way for some seconds, each as fast as it can; a fifth
// makes children that ask, too. For the tests of the preload library under sanitizers. Prints the number at
// the start, and how many questions had no answer.
//   asking_threads SECONDS
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_left = 0;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// \returns whether all ways give at least one CPU
static int ask(void) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sysconf(_SC_NPROCESSORS_ONLN) < 1 || sysconf(_SC_NPROCESSORS_CONF) < 1 || get_nprocs() < 1) return 0;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0 || CPU_COUNT(&mask) < 1) return 0;
  return pthread_getaffinity_np(pthread_self(), sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 0;
}

static void* ask_all_the_time(void* failures) {
  const double end = now() + seconds_left;
  while (now() < end) {
    if (!ask()) atomic_fetch_add((atomic_int*)failures, 1);
  }
  return NULL;
}

static void* make_children(void* failures) {
  const double end = now() + seconds_left;
  while (now() < end) {
    const pid_t child = fork();
    if (child == 0) _exit(ask() ? 0 : 1);
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      atomic_fetch_add((atomic_int*)failures, 1);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
  return NULL;
}

int main(int count, char** arguments) {
  seconds_left = count > 1 ? atof(arguments[1]) : 1;
  printf("online %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
  atomic_int failures = 0;
  pthread_t threads[5];
  for (int i = 0; i < 5; i++)
    pthread_create(&threads[i], NULL, i < 4 ? ask_all_the_time : make_children, &failures);
  for (int i = 0; i < 5; i++) pthread_join(threads[i], NULL);
  printf("failures %d\n", failures);
  return failures == 0 ? 0 : 1;
}
