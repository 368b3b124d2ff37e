// SPDX-License-Identifier: Apache-2.0
// Reads the variables that MPI's launchers set; see mpi_ranks.h.
#include "shared/mpi_ranks.h"

#include <stdlib.h>

#include <sukima/capacity.h>

uint32_t preload_count_ranks(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  for (unsigned i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char* const text = getenv(variables[i]);
    double ranks = 0;
    if (text != NULL && sukima_capacity_parse_cpus(text, &ranks) == 0 && ranks >= 1) return (uint32_t)ranks;
  }
  return 1;
}
