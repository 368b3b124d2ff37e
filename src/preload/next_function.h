// SPDX-License-Identifier: Apache-2.0
// The functions that the preload library replaces.
#ifndef SUKIMA_PRELOAD_NEXT_FUNCTION_H
#define SUKIMA_PRELOAD_NEXT_FUNCTION_H

typedef void preload_function(void);

/// The function `name` that a caller would have reached without this library. Usually that is the next one
/// in the program's order of libraries. A library that a program loads while it runs, as Python does with
/// its extensions, may have a runtime that only it can see: then it is looked for among what the caller's
/// library is linked with. Ends the program with a message if there is none, because then the caller could
/// not have started.
/// \param name   a string literal: its address is a part of the memory of earlier answers
/// \param caller an address inside the caller
preload_function* preload_next_function(const char* name, const void* caller);

/// The same, but NULL if there is none: for functions that programs look for without needing them.
preload_function* preload_find_function(const char* name, const void* caller);

#endif
