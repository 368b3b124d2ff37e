// SPDX-License-Identifier: Apache-2.0
// The place where nodes on the launcher's machine meet, and the file that shows which of them have ended.
#pragma once

#include "launch/child.hpp"
#include "shared/launch.hpp"
#include "shared/ports.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace sukima::cluster {

/// A socket that listens on a free port of the loopback device.
struct meeting_place {
  descriptor socket;
  std::string address;  ///< HOST:PORT
  /// \param ports  those from which it takes the first free one; nothing: all
  /// \throws std::system_error, launch_error if none of the ports is free
  explicit meeting_place(const std::optional<port_range>& ports);
};

/// A file with a byte for each node. The byte is not 0 once the node has ended.
class ended_nodes {
 public:
  /// \throws std::system_error
  explicit ended_nodes(unsigned nodes);
  int get() const noexcept { return file_.get(); }
  void add(std::size_t node) const noexcept;

 private:
  descriptor file_;
};

/// Notifies the user where nodes may join, if the run has room for them.
/// \param address  HOST:PORT of node 0
void report_address(const launch_request& request, const std::string& address);

/// 64 random hexadecimal digits. \throws std::system_error
std::string new_token();
/// \returns `start` and 16 random hexadecimal digits, which no node prints by chance
std::string new_mark(const char* start);
/// The token of the environment, or else a new one. \throws launch_error if it can be guessed
std::string token_of_run();

}  // namespace sukima::cluster
