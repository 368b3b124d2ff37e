// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace sukima::objects::detail {

/// A file descriptor.
class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const noexcept { return number_; }
  /// The caller closes it.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// The same beyond those of input, output and errors, which may be closed here: a child opens /dev/null as
/// its input, and programs write to the others. \return none if there is no descriptor left
inline descriptor beyond_standard(descriptor one) {
  return one.get() < 0 || one.get() > STDERR_FILENO
             ? std::move(one)
             : descriptor(fcntl(one.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace sukima::objects::detail
