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
  /// \param ports  takes the first free one of these ports; nothing: any free port
  /// \throws std::system_error the socket cannot be opened
  /// \throws launch_error none of the ports is free
  explicit meeting_place(const std::optional<port_range>& ports);
};

/// A file with one byte for each node. The byte is not 0 if the node has ended.
class ended_nodes {
 public:
  /// \throws std::system_error the file cannot be made
  explicit ended_nodes(unsigned nodes);
  int get() const noexcept { return file_.get(); }
  void add(std::size_t node) const noexcept;

 private:
  descriptor file_;
};

/// Notifies the user of the address at which nodes may join, if the run has room for them.
/// \param address  HOST:PORT of node 0
void report_address(const launch_request& request, const std::string& address);

/// Returns 64 random hexadecimal digits. \throws std::system_error the kernel has no random numbers
std::string new_token();
/// Returns `start` and 16 random hexadecimal digits, so that no node prints the mark by chance.
std::string new_mark(const char* start);
/// Returns the token of the environment, or else a new one. \throws launch_error the token can be guessed
std::string token_of_run();

}  // namespace sukima::cluster
