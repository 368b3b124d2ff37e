// SPDX-License-Identifier: Apache-2.0
// What happens in the children of a program that forks.
#ifndef SUKIMA_PRELOAD_AT_FORK_H
#define SUKIMA_PRELOAD_AT_FORK_H

#include <stdbool.h>

/// Lets `child` be called in each child of fork(), as by pthread_atfork(3), with any C library.
/// \return whether it will be called
bool preload_at_fork(void (*child)(void));

#endif
