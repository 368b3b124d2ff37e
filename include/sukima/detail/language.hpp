// SPDX-License-Identifier: Apache-2.0
// What of C++ Sukima's headers need. One sentence where it is missing: without the includes of a file that is
// not there, which end the compilation, hundreds of errors would follow.
#pragma once

#if defined(_MSVC_LANG) || !defined(__cplusplus) || __cplusplus < 202002L
#error "sukima needs C++20: compile with -std=c++20 or newer"
#include <needs_cxx20>
#endif

#if !defined(__cpp_exceptions)
#error "sukima reports errors by exceptions: compile without -fno-exceptions"
#include <needs_exceptions>
#endif
