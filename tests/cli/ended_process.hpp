// SPDX-License-Identifier: Apache-2.0
// Waits for the end of a process that is not a child of this one.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace sukima::cli {

/// The init process of the test inherits the process and may not reap it, so a zombie counts as ended.
inline void wait_until_ended(pid_t process) {
  const std::string stat = "/proc/" + std::to_string(process) + "/stat";
  while (true) {
    std::ifstream fields(stat);
    std::string number, name, state;
    fields >> number >> name >> state;
    if (state.empty() || state == "Z" || state == "X") return;
    usleep(1000);
  }
}

}  // namespace sukima::cli
