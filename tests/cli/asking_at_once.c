// SPDX-License-Identifier: Apache-2.0
// In each of many processes threads ask for the number of CPUs at the same time, before anything else has
// asked. Prints in how many processes an answer was not the expected one.
//   asking_at_once EXPECTED
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { processes = 40, threads = 4 };
static atomic_int ready;
static long expected;

static void* ask(void* wrong) {
  atomic_fetch_add(&ready, 1);
  while (atomic_load(&ready) != threads) continue;
  if (sysconf(_SC_NPROCESSORS_ONLN) != expected) atomic_store((atomic_int*)wrong, 1);
  return NULL;
}

static int ask_at_once(void) {
  atomic_int wrong = 0;
  pthread_t all[threads];
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, ask, &wrong);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  return wrong;
}

int main(int count, char** words) {
  expected = count > 1 ? atol(words[1]) : 0;
  int wrong = 0;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(ask_at_once());
    int status = -1;
    wrong += child < 0 || waitpid(child, &status, 0) != child || status != 0;
  }
  printf("%d", wrong);
  return 0;
}
