// SPDX-License-Identifier: Apache-2.0
// Gets its mask and sets it in attributes of threads: prints its answer, and the numbers of CPUs with which
// threads would start, for that mask and for a mask of one CPU. With -DMACHINE it is a library that plays a
// machine of four CPUs.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#ifdef MACHINE
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* mask) {
  (void)thread;
  memset(mask, 0, size);
  for (int cpu = 0; cpu < 4; ++cpu) CPU_SET_S(cpu, size, mask);
  return 0;
}
int pthread_attr_setaffinity_np(pthread_attr_t* attributes, size_t size, const cpu_set_t* mask) {
  (void)attributes;
  printf(", set %d", CPU_COUNT_S(size, mask));
  return 0;
}
#else
int main(void) {
  pthread_attr_t attributes;
  cpu_set_t answered, one;
  pthread_attr_init(&attributes);
  pthread_getaffinity_np(pthread_self(), sizeof answered, &answered);
  printf("answered %d", CPU_COUNT(&answered));
  pthread_attr_setaffinity_np(&attributes, sizeof answered, &answered);
  CPU_ZERO(&one);
  CPU_SET(1, &one);
  pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
  pthread_attr_destroy(&attributes);
}
#endif
