// SPDX-License-Identifier: Apache-2.0
#include "real_calls.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace sukima::simulation {

void* real_address(const char* name) noexcept {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found != nullptr) return found;
  std::fprintf(stderr, "simulation: the C library has no function %s\n", name);
  std::abort();
}

system_call* real_syscall_function() noexcept {
  static auto* const found = real<system_call>("syscall");
  return found;
}

}  // namespace sukima::simulation
