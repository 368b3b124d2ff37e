// SPDX-License-Identifier: Apache-2.0
#include "shared/stay_loaded.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

// Weak, because otherwise the linker of a static executable warns that dlopen needs shared libraries. There
// it is null, and stay_loaded() has nothing to do.
#pragma weak dlopen

namespace sukima::detail {

void stay_loaded() noexcept {
  static const char own = 0;
  Dl_info found{}, executable{};
  if (dladdr(&own, &found) == 0 || found.dli_fname == nullptr) return;
  const auto* const in_executable = reinterpret_cast<const void*>(getauxval(AT_PHDR));
  if (dladdr(in_executable, &executable) != 0 && executable.dli_fbase == found.dli_fbase) return;
  if (&dlopen != nullptr) dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace sukima::detail
