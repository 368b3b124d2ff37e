// SPDX-License-Identifier: Apache-2.0
// The C++ features that Sukima's headers need. If they are missing, one sentence says so. Ending the
// compilation by including a file that does not exist avoids hundreds of follow-up errors.
#pragma once

#if defined(_MSVC_LANG) || !defined(__cplusplus) || __cplusplus < 202002L
#error "sukima needs C++20: compile with -std=c++20 or newer"
#include <needs_cxx20>
#endif

#if !defined(__cpp_exceptions)
#error "sukima reports errors by exceptions: compile without -fno-exceptions"
#include <needs_exceptions>
#endif
