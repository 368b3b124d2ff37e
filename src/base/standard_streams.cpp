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
    // The lowest number that is free is this one. /dev/stdout opens the file of the output once more, for
    // writing, which a folder does not allow.
    const char* const file = number == STDOUT_FILENO ? "/" : "/dev/null";
    static_cast<void>(open(file, (number == STDERR_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC));
    if (number == STDOUT_FILENO) was_output_closed = true;
  }
}

bool is_closed_output(const char* path) noexcept {
  struct stat there{}, output{}, link{};
  return was_output_closed && lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && stat(path, &there) == 0 &&
         fstat(STDOUT_FILENO, &output) == 0 && there.st_dev == output.st_dev && there.st_ino == output.st_ino;
}

}  // namespace sukima::process
