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
  // By its name, because a reference makes the linker of a static executable warn that dlopen needs shared
  // libraries. A static executable does not get here.
  const auto load = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_DEFAULT, "dlopen"));
  if (load != nullptr) load(found.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace sukima::detail
