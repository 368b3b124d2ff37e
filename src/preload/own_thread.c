// SPDX-License-Identifier: Apache-2.0
// Starts threads of this library; see own_thread.h.
#define _GNU_SOURCE
#include "own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

bool preload_start_thread(void* (*run)(void*)) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  pthread_t thread;
  const bool started = pthread_create(&thread, NULL, run, NULL) == 0;
  if (started) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}
