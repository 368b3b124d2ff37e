// SPDX-License-Identifier: Apache-2.0
// Waits until a thread of this process sleeps.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>
#include <thread>

namespace support {

/// Whether that thread sleeps in the kernel.
inline bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] == 'S';
}

inline void await_sleep_of(pid_t thread) {
  while (!sleeps(thread)) std::this_thread::yield();
}

}  // namespace support
