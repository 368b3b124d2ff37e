// SPDX-License-Identifier: Apache-2.0
// An open file that is closed in the end.
#pragma once

#include <unistd.h>

#include <utility>

namespace sukima::host {

/// Owns a file descriptor; -1: none.
class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  ~descriptor() { reset(); }
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.number_, -1));
    return *this;
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_;
};

}  // namespace sukima::host
