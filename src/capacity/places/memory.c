// SPDX-License-Identifier: Apache-2.0
// Finds the NUMA domain of memory pages.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "places/table.h"

// move_pages() without targets only queries. get_mempolicy() with MPOL_F_ADDR would create missing pages.
static void ask_kernel(const sukima_place_table* table, const void* const* pointers, size_t count,
                       sukima_place* places) {
  enum { batch = 256 };
  int domains[batch];
  for (size_t begin = 0; begin < count; begin += batch) {
    size_t size = count - begin < batch ? count - begin : batch;
    // Filters of system calls may let it succeed without an effect.
    for (size_t i = 0; i < size; i++) domains[i] = -1;
    if (syscall(SYS_move_pages, 0L, size, pointers + begin, NULL, domains, 0L) != 0) return;
    for (size_t i = 0; i < size; i++) {
      if (domains[i] >= 0) places[begin + i] = sukima_place_table_of_domain(table, (uint32_t)domains[i]);
    }
  }
}

void sukima_place_table_of_memory(const sukima_place_table* table, const void* const* pointers, size_t count,
                                  sukima_place* places) {
  int error = errno;
  for (size_t i = 0; i < count; i++) places[i] = SUKIMA_PLACE_ANY;
  if (table->counts[SUKIMA_PLACE_NUMA_DOMAIN] > 1) ask_kernel(table, pointers, count, places);
  errno = error;
}

sukima_place sukima_place_of(const void* pointer) {
  sukima_place result = SUKIMA_PLACE_ANY;
  sukima_place_table_of_memory(sukima_place_table_of_machine(), &pointer, 1, &result);
  return result;
}
