// SPDX-License-Identifier: Apache-2.0
// A program of clang's OpenMP with a runtime that only remembers how long idle threads spin, and that begins
// again in the child of a fork. With -DRUNTIME it is the runtime. Prints that time, in the parent and
// in a child.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void kmpc_body(int32_t*, int32_t*, ...);
void __kmpc_fork_call(void* place, int32_t count, kmpc_body* body, ...);
int kmp_get_blocktime(void);

#ifdef RUNTIME
void kmp_set_blocktime(int ms);
int omp_in_parallel(void);
int omp_get_max_threads(void);
int32_t __kmpc_global_thread_num(void* place);
void __kmpc_push_num_threads(void* place, int32_t thread, int32_t number);

static int spin_ms = 200;
static void forget(void) { spin_ms = 200; }
__attribute__((constructor)) static void begin(void) { pthread_atfork(NULL, NULL, forget); }
void kmp_set_blocktime(int ms) { spin_ms = ms; }
int kmp_get_blocktime(void) { return spin_ms; }
int omp_in_parallel(void) { return 0; }
int omp_get_max_threads(void) { return 2; }
int32_t __kmpc_global_thread_num(void* place) {
  (void)place;
  return 0;
}
void __kmpc_push_num_threads(void* place, int32_t thread, int32_t number) {
  (void)place;
  (void)thread;
  (void)number;
}
void __kmpc_fork_call(void* place, int32_t count, kmpc_body* body, ...) {
  int32_t self = 0;
  (void)place;
  (void)count;
  body(&self, &self);
}
#else
static void nothing(int32_t* self, int32_t* bound, ...) {
  (void)self;
  (void)bound;
}

int main(void) {
  __kmpc_fork_call(NULL, 0, nothing);  // CPU was short at the start
  const pid_t child = fork();
  if (child == 0) {
    __kmpc_fork_call(NULL, 0, nothing);
    _exit(kmp_get_blocktime());
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%d %d\n", kmp_get_blocktime(), WEXITSTATUS(status));
  return 0;
}
#endif
