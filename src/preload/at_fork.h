// SPDX-License-Identifier: Apache-2.0
// Registers a handler for the children of a program that forks.
#ifndef SUKIMA_PRELOAD_AT_FORK_H
#define SUKIMA_PRELOAD_AT_FORK_H

#include <stdbool.h>

/// Registers `child` to be called in each child of fork(), as by pthread_atfork(3), with any C library.
/// \return whether it will be called
bool preload_at_fork(void (*child)(void));

#endif
