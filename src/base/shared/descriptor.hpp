// SPDX-License-Identifier: Apache-2.0
// Open files, sockets and pipes, closed by their owners.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace sukima {

/// Owns a file descriptor. -1: none.
class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(other.release()) {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~descriptor() { reset(); }

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  /// Leaves the closing to the caller.
  int release() noexcept { return std::exchange(number_, -1); }
  /// Closes it, and owns `number` from now on. Keeps errno.
  void reset(int number = -1) noexcept {
    const int before = std::exchange(number_, number);
    if (before < 0) return;
    const int error = errno;
    ::close(before);
    errno = error;
  }

 private:
  int number_;
};

/// The same descriptor beyond those of input, output and errors, which may be closed here: a child opens
/// /dev/null as its input, and programs write to the others. \returns none if there is no descriptor left
inline descriptor beyond_standard(descriptor one) {
  return !one || one.get() > STDERR_FILENO ? std::move(one)
                                           : descriptor(fcntl(one.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// Both ends of a pipe, closed by exec.
struct pipe_ends {
  descriptor out;  ///< what was written is read here
  descriptor in;  ///< written here
};

/// \param purpose  of the pipe, for the message
/// \throws std::system_error
inline pipe_ends make_pipe(const char* purpose = "pipe") {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), purpose);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

}  // namespace sukima
