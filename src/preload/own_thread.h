// SPDX-License-Identifier: Apache-2.0
// Threads of this library in the program.
#ifndef SUKIMA_PRELOAD_OWN_THREAD_H
#define SUKIMA_PRELOAD_OWN_THREAD_H

#include <stdbool.h>

/// Starts a thread that nobody joins and that takes no signals, which are for the program's threads; nor do
/// threads that it starts.
/// \return whether there is one
bool preload_start_thread(void* (*run)(void*));

#endif
