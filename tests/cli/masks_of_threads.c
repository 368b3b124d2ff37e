// SPDX-License-Identifier: Apache-2.0
// Gets the mask of another thread and sets it again: its answer, and the mask that the kernel has then.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_barrier_t both;
static long number;
static void* wait_twice(void* unused) {
  number = syscall(SYS_gettid);
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  return unused;
}
int main(void) {
  pthread_t other;
  cpu_set_t answered, real, *volatile none = NULL;
  CPU_ZERO(&real);
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&other, NULL, wait_twice, NULL);
  pthread_barrier_wait(&both);
  pthread_getaffinity_np(other, sizeof answered, &answered);
  pthread_setaffinity_np(other, sizeof answered, &answered);
  syscall(SYS_sched_getaffinity, number, sizeof real, &real);
  int refused = sched_setaffinity(0, sizeof answered, none) == -1 && errno == EFAULT;
  pthread_barrier_wait(&both);
  pthread_join(other, NULL);
  printf("answered %d, real %d, no mask is refused %d\\n", CPU_COUNT(&answered), CPU_COUNT(&real), refused);
}
