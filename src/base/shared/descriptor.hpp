// SPDX-License-Identifier: Apache-2.0
// Open files, sockets and pipes that their owners close.
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
  /// Gives up ownership: the caller must close it.
  int release() noexcept { return std::exchange(number_, -1); }
  /// Closes it, and then owns `number`. Preserves errno.
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

/// Returns the same open file with a number above those of input, output and errors. These may be closed
/// here, and then a new descriptor gets their numbers; but a child opens /dev/null as its input, and programs
/// write to the others. \returns none if no descriptor is left
inline descriptor beyond_standard(descriptor one) {
  return !one || one.get() > STDERR_FILENO ? std::move(one)
                                           : descriptor(fcntl(one.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// Both ends of a pipe; exec closes them.
struct pipe_ends {
  descriptor read_end;
  descriptor write_end;
};

/// \param purpose  the pipe's purpose, for the message
/// \throws std::system_error
inline pipe_ends make_pipe(const char* purpose = "pipe") {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), purpose);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

}  // namespace sukima
