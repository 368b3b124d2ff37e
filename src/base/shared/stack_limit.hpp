// SPDX-License-Identifier: Apache-2.0
// The limit on the stack of a process.
#pragma once

#include <sys/resource.h>

#include <string>

namespace sukima::process {

/// Smallest limit with which every command works.
inline constexpr rlim_t least_stack_limit = rlim_t{64} << 10;

/// Returns a sentence if the limit of this process is smaller, because the process would end by SIGSEGV.
/// Empty: the limit is large enough.
inline std::string trouble_with_stack_limit() {
  rlimit own{};
  if (getrlimit(RLIMIT_STACK, &own) != 0 || own.rlim_cur >= least_stack_limit) return {};
  return "the stack is limited to " + std::to_string(own.rlim_cur >> 10) + " KiB, and this command needs " +
         std::to_string(least_stack_limit >> 10) + ": raise the limit with ulimit -s";
}

}  // namespace sukima::process
