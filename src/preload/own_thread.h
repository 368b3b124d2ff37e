// SPDX-License-Identifier: Apache-2.0
// Starts threads of this library in the program.
#ifndef SUKIMA_PRELOAD_OWN_THREAD_H
#define SUKIMA_PRELOAD_OWN_THREAD_H

#include <stdbool.h>

/// Starts a detached thread that blocks all signals, because the program's threads must handle them. Threads
/// that it starts inherit this.
/// \return whether it was started
bool preload_start_thread(void* (*run)(void*));

#endif
