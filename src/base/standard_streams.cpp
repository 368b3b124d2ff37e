// SPDX-License-Identifier: Apache-2.0
#include "shared/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace sukima::process {

void occupy_closed_streams() noexcept {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)  // the lowest that is free is this one
      static_cast<void>(open("/dev/null", (number == STDERR_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC));
}

}  // namespace sukima::process
