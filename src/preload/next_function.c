// SPDX-License-Identifier: Apache-2.0
// Finds the original functions of those that this library replaces; see next_function.h.
#define _GNU_SOURCE
#include "next_function.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/// Earlier results by name and caller, because two libraries of one process may each have a runtime. An entry
/// is written once, with its name last, so a thread that sees the name also sees the other members.
struct answer {
  _Atomic(const char*) name;
  const void* caller;
  preload_function* function;
};
enum { most_answers = 512 };
static struct answer answers[most_answers];
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static unsigned place_of(const char* name, const void* caller) {
  const uintptr_t mixed = ((uintptr_t)name * 31 + (uintptr_t)caller) * (uintptr_t)0x9E3779B97F4A7C15ULL;
  return (unsigned)(mixed >> (sizeof mixed * 8 - 9));
}

static preload_function* as_function(void* address) {
  preload_function* function = NULL;
  *(void**)&function = address;  // POSIX's way to convert it
  return function;
}

/// Searches for a function in the libraries with which the caller's own library is linked.
static void* find_near(const char* name, const void* caller) {
  Dl_info library;
  if (dladdr(caller, &library) == 0 || library.dli_fname == NULL) return NULL;
  void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) return NULL;
  void* const found = dlsym(handle, name);
  dlclose(handle);  // the caller runs, so its library stays loaded
  return found;
}

static preload_function* find(const char* name, const void* caller) {
  void* const found = dlsym(RTLD_NEXT, name);
  return as_function(found != NULL ? found : find_near(name, caller));
}

preload_function* preload_find_function(const char* name, const void* caller) {
  const unsigned home = place_of(name, caller);
  for (unsigned i = 0; i < most_answers; ++i) {
    const struct answer* const entry = &answers[(home + i) % most_answers];
    const char* const known = atomic_load_explicit(&entry->name, memory_order_acquire);
    if (known == NULL) break;
    if (known == name && entry->caller == caller) return entry->function;
  }
  preload_function* const function = find(name, caller);
  if (function == NULL) return NULL;
  // Never wait for the mutex: in the child of a fork it may be held forever.
  if (pthread_mutex_trylock(&adding) != 0) return function;
  for (unsigned i = 0; i < most_answers; ++i) {
    struct answer* const entry = &answers[(home + i) % most_answers];
    const char* const known = atomic_load_explicit(&entry->name, memory_order_relaxed);
    if (known == name && entry->caller == caller) break;  // another thread was faster
    if (known != NULL) continue;
    entry->caller = caller;
    entry->function = function;
    atomic_store_explicit(&entry->name, name, memory_order_release);
    break;
  }
  pthread_mutex_unlock(&adding);
  return function;
}

preload_function* preload_next_function(const char* name, const void* caller) {
  preload_function* const function = preload_find_function(name, caller);
  if (function != NULL) return function;
  fprintf(
      stderr,
      "sukima run: the function %s, which the program calls, is in none of its libraries; start the program "
      "with sukima run --no-preload\n",
      name);
  abort();
}
