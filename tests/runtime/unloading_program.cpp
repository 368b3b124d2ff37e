// SPDX-License-Identifier: Apache-2.0
// unloading_program FUNCTION PLUG-IN ...: calls a function of plug-ins in threads that end, and closes the
// plug-ins. Prints what the function returned, and whether the plug-in is still loaded.
#include <dlfcn.h>

#include <cstdio>
#include <thread>

int main(int, char** arguments) {
  for (char** name = arguments + 2; *name != nullptr; ++name) {
    void* const plug_in = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
    if (plug_in == nullptr) {
      std::puts(dlerror());
      return 1;
    }
    const auto function = reinterpret_cast<long (*)(int)>(dlsym(plug_in, arguments[1]));
    // The C++ library keeps a plug-in while a thread lives that has objects of it.
    std::thread([function] { std::printf("%ld ", function(7)); }).join();
    dlclose(plug_in);
    std::puts(dlopen(*name, RTLD_NOW | RTLD_NOLOAD) != nullptr ? "loaded" : "unloaded");
  }
}
