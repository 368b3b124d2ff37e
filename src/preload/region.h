// SPDX-License-Identifier: Apache-2.0
// The number of threads of each parallel region, and the program's own statements about it.
#ifndef SUKIMA_PRELOAD_REGION_H
#define SUKIMA_PRELOAD_REGION_H

#include <stdbool.h>
#include <stdint.h>

/// A region that is running.
struct preload_region {
  bool outermost;  ///< no other region is around it, in a program that the library looks after
  bool counted;    ///< its end is reported to the tuner
  uint32_t waiting;  ///< by preload_waiting_region_begins, of an outermost region
  uint64_t beside;  ///< by preload_beside_region_begins
};

/// A region begins.
/// \param body    the region's function
/// \param given   the number that the program gives, 0 if it gives none
/// \param caller  an address inside the caller, to find its runtime
/// \return `given`, or where that is 0 the number that fits; 0 leaves it to the runtime
unsigned preload_region_begins(struct preload_region* region, uintptr_t body, unsigned given,
                               const void* caller);

/// The region has ended, in the thread that began it.
void preload_region_ends(struct preload_region* region);

/// The program calls omp_set_num_threads(number): from now on it alone decides the number.
void preload_program_sets_threads(int number);

/// The program calls omp_get_max_threads. It may split its work or its memory by the answer, so from now on
/// the number stays (with `preload_resize_unless_asked`).
/// \param own what the runtime would answer; 0: the program has no OpenMP
/// \return what the program gets
int preload_program_asks_threads(int own, const void* caller);

/// The program calls omp_get_num_procs. Where the number of threads may not change, neither does this answer.
/// \param own what the runtime would answer; 0: the program has no OpenMP
/// \return what the program gets
int preload_program_asks_processors(int own, const void* caller);

#endif
