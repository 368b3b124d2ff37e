// SPDX-License-Identifier: Apache-2.0
// A preloaded library that answers sysconf with the usable CPUs. It aborts if the query itself calls a
// function that the library replaces, or allocates memory.
#include <stdlib.h>
#include <unistd.h>

#include <sukima/capacity.h>

static _Thread_local int in_query;

// glibc's own names of the functions that are replaced below.
void* __libc_malloc(size_t size);
long __sysconf(int name);

static void refuse_in_query(void) {
  if (in_query) abort();
}

void* malloc(size_t size) {
  refuse_in_query();
  return __libc_malloc(size);
}

int sched_getaffinity(int pid, size_t size, void* mask);
int sched_getaffinity(int pid, size_t size, void* mask) {
  (void)pid, (void)size, (void)mask;
  refuse_in_query();
  return -1;
}

long sysconf(int name) {
  refuse_in_query();
  if (name != _SC_NPROCESSORS_ONLN) return __sysconf(name);
  sukima_capacity_facts facts;
  in_query = 1;
  sukima_capacity_read(NULL, &facts);
  in_query = 0;
  return (long)sukima_capacity_threads(facts.usable, NULL);
}
