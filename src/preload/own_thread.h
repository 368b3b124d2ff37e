// SPDX-License-Identifier: Apache-2.0
// Threads of this library in the program.
#ifndef SUKIMA_PRELOAD_OWN_THREAD_H
#define SUKIMA_PRELOAD_OWN_THREAD_H

#include <stdbool.h>

/// Starts a detached thread that blocks all signals, which are for the program's threads; so do
/// threads that it starts.
/// \return whether it was started
bool preload_start_thread(void* (*run)(void*));

#endif
