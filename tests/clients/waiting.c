// SPDX-License-Identifier: Apache-2.0
// A program of clang's OpenMP with a runtime that only remembers how long idle threads spin, and that begins
// again in the child of a fork. With -DRUNTIME it is the runtime. Prints that time, in the parent and
// in a child. With an argument it does something else:
//   sukima     plays a Sukima runtime that is used between regions, and ends with code 0 once the time has
//              become short where regions are far apart, and as it was where they follow each other quickly
//              and where the runtime is used no longer
//   main-ends  runs a region, and ends its main thread, which is the last one of the program
//   numbers    prints the number of threads that each of some regions was given; 0: none
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <capacity/shared/side_by_side.h>

typedef void kmpc_body(int32_t*, int32_t*, ...);
void __kmpc_fork_call(void* place, int32_t count, kmpc_body* body, ...);
int kmp_get_blocktime(void);
void __kmpc_push_num_threads(void* place, int32_t thread, int32_t number);
void __kmpc_push_num_threads_strict(void* place, int32_t thread, int32_t number, int severity,
                                    const char* why);
void __kmpc_push_num_threads_list(void* place, int32_t thread, uint32_t length, int32_t* numbers);
void __kmpc_push_num_threads_list_strict(void* place, int32_t thread, uint32_t length, int32_t* numbers,
                                         int severity, const char* why);
void __kmpc_serialized_parallel(void* place, int32_t thread);
void omp_set_num_threads_8_(const int64_t* number);
int number_of_last_region(void);

#ifdef RUNTIME
void kmp_set_blocktime(int ms);
int omp_in_parallel(void);
int omp_get_max_threads(void);
int32_t __kmpc_global_thread_num(void* place);

static int next_number, last_number;
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
  next_number = number;
}
void __kmpc_push_num_threads_strict(void* place, int32_t thread, int32_t number, int severity,
                                    const char* why) {
  (void)place;
  (void)thread;
  (void)severity;
  (void)why;
  next_number = number;
}
void __kmpc_push_num_threads_list(void* place, int32_t thread, uint32_t length, int32_t* numbers) {
  (void)place;
  (void)thread;
  (void)length;
  next_number = numbers[0];
}
void __kmpc_push_num_threads_list_strict(void* place, int32_t thread, uint32_t length, int32_t* numbers,
                                         int severity, const char* why) {
  (void)place;
  (void)thread;
  (void)length;
  (void)severity;
  (void)why;
  next_number = numbers[0];
}
void __kmpc_serialized_parallel(void* place, int32_t thread) {
  (void)place;
  (void)thread;
  next_number = 0;
}
void omp_set_num_threads_8_(const int64_t* number) { (void)number; }
int number_of_last_region(void) { return last_number; }
void __kmpc_fork_call(void* place, int32_t count, kmpc_body* body, ...) {
  int32_t self = 0;
  (void)place;
  (void)count;
  last_number = next_number;
  next_number = 0;
  body(&self, &self);
}
#else
static void nothing(int32_t* self, int32_t* bound, ...) {
  (void)self;
  (void)bound;
}

static volatile bool used = true;
static bool was_used(void) { return used; }
static uint64_t region_begins(uint32_t threads) { return threads; }
static void region_ends(uint64_t begun) { (void)begun; }

static void wait_until_threads_spin_for(int ms, useconds_t between_regions) {
  do {
    if (between_regions != 0) usleep(between_regions);
    __kmpc_fork_call(NULL, 0, nothing);
  } while (kmp_get_blocktime() != ms);
}

static int play_sukima(void) {
  static const cap_side_by_side runtime = {region_begins, region_ends, was_used};
  cap_side_by_side_meet* meet = NULL;
  *(void**)&meet = dlsym(RTLD_DEFAULT, CAP_SIDE_BY_SIDE_MEET);
  if (meet == NULL) return 1;
  const int usual = kmp_get_blocktime();
  meet(&runtime);
  enum { far_apart = 10000 };
  wait_until_threads_spin_for(0, far_apart);
  wait_until_threads_spin_for(usual, 0);
  wait_until_threads_spin_for(0, far_apart);
  used = false;  // only the wait monitor reads it, at some time
  wait_until_threads_spin_for(usual, far_apart);
  return 0;
}

static void print_number_of_region(void) {
  __kmpc_fork_call(NULL, 0, nothing);
  printf("%d ", number_of_last_region());
}

static int print_numbers(void) {
  int32_t numbers[] = {5, 6};
  print_number_of_region();
  __kmpc_push_num_threads(NULL, 0, 3);
  print_number_of_region();
  __kmpc_push_num_threads_strict(NULL, 0, 4, 1, NULL);
  print_number_of_region();
  __kmpc_push_num_threads_list(NULL, 0, 2, numbers);
  print_number_of_region();
  __kmpc_push_num_threads_list_strict(NULL, 0, 2, &numbers[1], 1, NULL);
  print_number_of_region();
  __kmpc_push_num_threads(NULL, 0, 7);  // for a region whose if clause is false
  __kmpc_serialized_parallel(NULL, 0);
  print_number_of_region();
  omp_set_num_threads_8_(&(int64_t){8});
  print_number_of_region();
  return 0;
}

int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "sukima") == 0) return play_sukima();
  if (count > 1 && strcmp(words[1], "numbers") == 0) return print_numbers();
  __kmpc_fork_call(NULL, 0, nothing);  // CPU was short at the start
  if (count > 1) pthread_exit(NULL);
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
