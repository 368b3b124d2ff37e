// SPDX-License-Identifier: Apache-2.0
// Reports of a program's progress, with which the host of its virtual machine finds the best number of
// threads.
#ifndef SUKIMA_CAPACITY_PROGRESS_H
#define SUKIMA_CAPACITY_PROGRESS_H

/// \file
/// Reports of a program's progress to `sukima guest` in its virtual machine, which passes them on to the
/// host. docs/host.md says how the host uses them. The function below uses no memory of the heap, opens one
/// socket, and keeps `errno`.

#include <stdint.h>
#include <sukima/capacity.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \addtogroup c_capacity
/// @{

/// Adds an amount to this process's progress. Call it from any thread each time some work is done, at most a
/// thousand times a second. At most five times a second the calling thread sends the sum to the guest
/// service, without waiting. If the service is too slow to read, this report is dropped, and the next one
/// carries the larger sum. If no service listens, the next attempt follows a second later. A child of `fork`
/// reports for itself, over a connection of its own.
/// \param amount in any unit that measures the program's work, the same for all threads: frames, rows,
///               requests, iterations. Only its growth counts
/// \par Environment SUKIMA_GUEST_SOCKET: the socket instead of /run/sukima/guest.sock; empty: no reports.
///      It is read at the first call
/// \par Complexity an atomic addition and a coarse clock, some 10 ns; now and then a system call or four
SUKIMA_CAPACITY_API void sukima_progress_add(uint64_t amount);

/// @}

#ifdef __cplusplus
}
#endif

#endif
