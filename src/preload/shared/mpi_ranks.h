// SPDX-License-Identifier: Apache-2.0
// The number of MPI ranks on this machine, by the variables that MPI's launchers set.
#ifndef SUKIMA_PRELOAD_MPI_RANKS_H
#define SUKIMA_PRELOAD_MPI_RANKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The number of MPI ranks that share this machine with this process, including itself, by the variables that
/// Open MPI and MPICH set; 1 outside MPI.
uint32_t preload_count_ranks(void);

#ifdef __cplusplus
}
#endif

#endif
