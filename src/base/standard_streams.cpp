// SPDX-License-Identifier: Apache-2.0
#include "shared/standard_streams.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <initializer_list>

namespace sukima::process {

namespace {
bool was_output_closed = false;
}

void occupy_closed_streams() noexcept {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // The lowest number that is free is this one. /dev/stdout and /dev/stderr open the file of the output
    // once more, for writing, which a folder does not allow.
    static_cast<void>(open(number == STDIN_FILENO ? "/dev/null" : "/", O_RDONLY | O_CLOEXEC));
    if (number != STDIN_FILENO) was_output_closed = true;
  }
}

bool is_closed_output(const char* path) noexcept {
  struct stat there{}, closed{}, link{};
  return was_output_closed && lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && stat(path, &there) == 0 &&
         stat("/", &closed) == 0 && there.st_dev == closed.st_dev && there.st_ino == closed.st_ino;
}

}  // namespace sukima::process
