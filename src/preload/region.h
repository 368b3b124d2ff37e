// SPDX-License-Identifier: Apache-2.0
// Determines the number of threads of each parallel region, and handles the program's own settings and
// queries of it.
#ifndef SUKIMA_PRELOAD_REGION_H
#define SUKIMA_PRELOAD_REGION_H

#include <stdbool.h>
#include <stdint.h>

/// A region that is running.
struct preload_region {
  bool outermost;  ///< no other region is around it, and this library handles the program
  bool counted;    ///< its end will be reported to the tuner
  uint32_t waiting;  ///< from preload_waiting_region_begins, for an outermost region
  uint64_t beside;  ///< from preload_beside_region_begins
};

/// Must be called when a region begins.
/// \param body    the region's function
/// \param given   the number that the program gives; 0 if it gives none
/// \param caller  an address inside the caller, to find its runtime
/// \return `given`, or, if that is 0, the number that fits; 0 leaves the choice to the runtime
unsigned preload_region_begins(struct preload_region* region, uintptr_t body, unsigned given,
                               const void* caller);

/// Must be called when the region has ended, by the thread that began it.
void preload_region_ends(struct preload_region* region);

/// Must be called when the program calls omp_set_num_threads(number). From then on, only the program decides
/// the number.
void preload_program_sets_threads(int number);

/// Answers the program's call of omp_get_max_threads. The program may divide its work or its memory by the
/// result, so from now on the number stays (with `preload_resize_unless_asked`).
/// \param own the result of the runtime; 0: the program has no OpenMP
/// \return the result for the program
int preload_program_asks_threads(int own, const void* caller);

/// Answers the program's call of omp_get_num_procs. If the number of threads must not change, this result
/// does not change either.
/// \param own the result of the runtime; 0: the program has no OpenMP
/// \return the result for the program
int preload_program_asks_processors(int own, const void* caller);

#endif
