// SPDX-License-Identifier: Apache-2.0
// Finds the original functions of those that the preload library replaces.
#ifndef SUKIMA_PRELOAD_NEXT_FUNCTION_H
#define SUKIMA_PRELOAD_NEXT_FUNCTION_H

typedef void preload_function(void);

/// Returns the function `name` that a caller would have reached without this library. Usually that is the
/// next one in the program's order of libraries. A library that the program loads at run time, as Python does
/// with its extensions, may have a runtime that only that library can see. Then this function searches the
/// libraries with which the caller's library is linked. If there is no such function, it ends the program
/// with a message, because without this library the caller could not have started.
/// \param name   a string literal: its address is a part of the key of earlier results
/// \param caller an address inside the caller
preload_function* preload_next_function(const char* name, const void* caller);

/// The same, but returns NULL if there is none: for functions that programs look up without needing them.
preload_function* preload_find_function(const char* name, const void* caller);

#endif
