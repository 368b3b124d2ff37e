// SPDX-License-Identifier: Apache-2.0
// Functions of a library that exchange containers of the standard library with the program.
#pragma once

/// Declares such a function. _GLIBCXX_DEBUG gives containers another layout. The name of the function then
/// contains that word, so a program that is compiled with it and a library that is not cannot be linked, and
/// the linker's message says why. Without this the program would write over memory.
#ifdef _GLIBCXX_DEBUG
#define SUKIMA_EXCHANGES_CONTAINERS [[gnu::abi_tag("compiled_with_GLIBCXX_DEBUG")]]
#else
#define SUKIMA_EXCHANGES_CONTAINERS
#endif
