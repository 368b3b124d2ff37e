// SPDX-License-Identifier: Apache-2.0
#include "shared/stay_loaded.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

namespace sukima::detail {

void stay_loaded() noexcept {
  static const char own = 0;
  Dl_info found{}, executable{};
  if (dladdr(&own, &found) == 0 || found.dli_fname == nullptr) return;
  const auto* const in_executable = reinterpret_cast<const void*>(getauxval(AT_PHDR));
  if (dladdr(in_executable, &executable) != 0 && executable.dli_fbase == found.dli_fbase) return;
  dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace sukima::detail
