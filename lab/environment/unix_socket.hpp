// SPDX-License-Identifier: Apache-2.0
// A connection to a socket of QEMU, read line by line.
#pragma once

#include <base/shared/descriptor.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace sukima::lab {

class unix_socket {
 public:
  /// Connects as soon as a process listens.
  /// \throws std::runtime_error if no process listens within `patience`
  unix_socket(const std::filesystem::path& path, std::chrono::milliseconds patience);

  /// \throws std::runtime_error if the other side has closed the connection
  void write(const std::string& text);
  /// Returns the next whole line without its end; nothing if no line arrives within `patience`. The beginning
  /// of a line of more than 1 MiB may be lost.
  /// \throws std::runtime_error if the other side has closed the connection
  std::optional<std::string> read_line(std::chrono::milliseconds patience);

 private:
  descriptor socket_;
  std::string received_;
};

}  // namespace sukima::lab
