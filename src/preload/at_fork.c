// SPDX-License-Identifier: Apache-2.0
// Registers handlers of fork(); see at_fork.h. The children of a program inherit LD_PRELOAD, and may use
// another C library. The loader of musl ends a program if a function that a preloaded library needs is
// missing. So functions that only glibc has are weak references here and in answers.c.
#define _GNU_SOURCE
#include "at_fork.h"

#include <dlfcn.h>
#include <stddef.h>

typedef void handler(void);
/// The function that pthread_atfork() calls; in glibc the latter is a part of each library.
extern int __register_atfork(handler* prepare, handler* parent, handler* child, void* library)
    __attribute__((weak));
extern void* __dso_handle __attribute__((visibility("hidden")));

bool preload_at_fork(handler* child) {
  if (__register_atfork != NULL) return __register_atfork(NULL, NULL, child, __dso_handle) == 0;
  int (*register_handlers)(handler*, handler*, handler*) = NULL;
  *(void**)&register_handlers = dlsym(RTLD_DEFAULT, "pthread_atfork");
  return register_handlers != NULL && register_handlers(NULL, NULL, child) == 0;
}
